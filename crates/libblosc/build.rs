//! What the linker is told of the shared library.

fn main() {
    // The name that programs are linked with. It is left out where linkers have no such option.
    let os = std::env::var("CARGO_CFG_TARGET_OS").unwrap_or_default();
    if matches!(os.as_str(), "linux" | "android" | "freebsd" | "netbsd" | "openbsd" | "dragonfly") {
        println!("cargo:rustc-cdylib-link-arg=-Wl,-soname,libblosc.so.1");
        // Threads of its own may be asleep in it, so that it has to stay where it is after
        // `dlclose`.
        println!("cargo:rustc-cdylib-link-arg=-Wl,-z,nodelete");
    }
    println!("cargo:rerun-if-changed=build.rs");
}
