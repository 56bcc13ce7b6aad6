//! The codecs by the names and numbers of blosc2.h.

use crate::process::registry;
use blosc_oxide::Codec;
use std::ffi::{CStr, c_int};

/// A codec, and what C calls it.
struct Entry {
    codec: Codec,
    name: &'static CStr,
    library: &'static CStr,
}

static BUILT_IN: [Entry; 5] = [
    Entry { codec: Codec::BloscLz, name: c"blosclz", library: c"BloscLZ" },
    Entry { codec: Codec::Lz4, name: c"lz4", library: c"LZ4" },
    Entry { codec: Codec::Lz4Hc, name: c"lz4hc", library: c"LZ4" },
    Entry { codec: Codec::Zlib, name: c"zlib", library: c"Zlib" },
    Entry { codec: Codec::Zstd, name: c"zstd", library: c"Zstd" },
];

/// Codecs that have a number and a name in blosc2.h, whether they are here or not.
static REGISTERED: [(u8, &CStr); 9] = [
    (32, c"ndlz"),
    (33, c"zfp_acc"),
    (34, c"zfp_prec"),
    (35, c"zfp_rate"),
    (36, c"openhtj2k"),
    (37, c"grok"),
    (38, c"openzl"),
    (39, c"j2k"),
    (40, c"htj2k"),
];

/// The names of those that are there.
pub(crate) const LIST: &CStr = if cfg!(any(feature = "zstd", feature = "pure")) {
    c"blosclz,lz4,lz4hc,zlib,zstd"
} else {
    c"blosclz,lz4,lz4hc,zlib"
};

/// Which version all of them are: they are parts of this library.
const VERSION: &CStr =
    match CStr::from_bytes_with_nul(concat!(env!("CARGO_PKG_VERSION"), " (blosc-oxide)\0").as_bytes()) {
        Ok(version) => version,
        Err(_) => c"",
    };

fn by_number(number: c_int) -> Option<&'static Entry> {
    BUILT_IN.iter().find(|entry| c_int::from(entry.codec.code()) == number)
}

/// The name of a codec, and its number if it can be used.
pub(crate) fn name_of(number: c_int) -> (Option<&'static CStr>, c_int) {
    if let Some(entry) = by_number(number) {
        return (Some(entry.name), if entry.codec.is_built_in() { number } else { -1 });
    }
    let registered = REGISTERED.iter().find(|(id, _)| c_int::from(*id) == number).map(|&(_, name)| name);
    let name = registered.or_else(|| registry::codec(u8::try_from(number).ok()?).map(|codec| codec.name.as_c_str()));
    (name, if name.is_some() { number } else { -1 })
}

/// The number of the codec with this name, or -1.
pub(crate) fn number_of(name: &CStr) -> c_int {
    let built_in = BUILT_IN.iter().filter(|entry| entry.codec.is_built_in());
    let built_in = built_in.map(|entry| (entry.codec.code(), entry.name));
    let user = (registry::FIRST_USER..=u8::MAX).filter_map(|id| Some((id, registry::codec(id)?.name.as_c_str())));
    built_in.chain(REGISTERED).chain(user).find(|&(_, entry)| entry == name).map_or(-1, |(id, _)| id.into())
}

/// The library that a codec is in, its version, and its number; `None` if there is no such codec.
pub(crate) fn library_of(name: &CStr) -> Option<(&'static CStr, &'static CStr, c_int)> {
    let number = number_of(name);
    if let Some(entry) = by_number(number) {
        return Some((entry.library, VERSION, entry.codec.format_code().into()));
    }
    let (name, _) = name_of(number);
    Some((name?, c"unknown", number))
}

/// The library of the codec of a chunk, by the format in its flags.
pub(crate) fn library_by_format(format: u8) -> Option<&'static CStr> {
    BUILT_IN.iter().find(|entry| entry.codec.format_code() == format).map(|entry| entry.library)
}
