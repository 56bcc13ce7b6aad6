# find_package(Blosc2): the targets Blosc2::blosc2_shared, Blosc2::blosc2_static and Blosc2::blosc2, which is the shared one.
get_filename_component(_blosc2_prefix "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)
include(CMakeFindDependencyMacro)
find_dependency(Threads)

if(NOT TARGET Blosc2::blosc2_shared)
  add_library(Blosc2::blosc2_shared SHARED IMPORTED)
  set_target_properties(Blosc2::blosc2_shared PROPERTIES
    IMPORTED_LOCATION "${_blosc2_prefix}/lib/libblosc2.so.9"
    IMPORTED_SONAME "libblosc2.so.9"
    INTERFACE_INCLUDE_DIRECTORIES "${_blosc2_prefix}/include")
  add_library(Blosc2::blosc2_static STATIC IMPORTED)
  set_target_properties(Blosc2::blosc2_static PROPERTIES
    IMPORTED_LOCATION "${_blosc2_prefix}/lib/libblosc2.a"
    INTERFACE_INCLUDE_DIRECTORIES "${_blosc2_prefix}/include"
    INTERFACE_LINK_LIBRARIES "Threads::Threads;${CMAKE_DL_LIBS};m")
  add_library(Blosc2::blosc2 INTERFACE IMPORTED)
  set_target_properties(Blosc2::blosc2 PROPERTIES INTERFACE_LINK_LIBRARIES Blosc2::blosc2_shared)
endif()
unset(_blosc2_prefix)
