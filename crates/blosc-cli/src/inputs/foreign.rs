//! Files of other programs: what they are, and what to type next.

use crate::zarr::{self, Version};
use blosc_oxide::storage::ReadAt;
use std::path::Path;

/// Whatever a file starts with, its length and what it is.
const STARTS: [(&[u8], &str, &str); 14] = [
    (b"\x89HDF\r\n\x1a\n", "an HDF5 file (netCDF-4 files are, too)", HDF5),
    (b"CDF\x01", "a netCDF file", NETCDF),
    (b"CDF\x02", "a netCDF file", NETCDF),
    (b"CDF\x05", "a netCDF file", NETCDF),
    (b"\x1f\x8b", "compressed by gzip", "`gzip -dc FILE | blosc -o NAME.b2frame` compresses its data anew"),
    (b"\x28\xb5\x2f\xfd", "compressed by zstd", "`zstd -dc FILE | blosc -o NAME.b2frame` compresses its data anew"),
    (b"\x04\x22\x4d\x18", "compressed by lz4", "`lz4 -dc FILE | blosc -o NAME.b2frame` compresses its data anew"),
    (b"\xfd7zXZ\0", "compressed by xz", "`xz -dc FILE | blosc -o NAME.b2frame` compresses its data anew"),
    (b"BZh", "compressed by bzip2", "`bzip2 -dc FILE | blosc -o NAME.b2frame` compresses its data anew"),
    (
        b"\x93NUMPY",
        "an .npy file, which is not compressed",
        "`blosc FILE` compresses it, `blosc head FILE` prints its values",
    ),
    (b"PAR1", "a Parquet file", "pyarrow reads it"),
    (b"ARROW1", "an Arrow file", "pyarrow reads it"),
    (b"II*\0", "a TIFF image", "tifffile or GDAL reads it"),
    (b"MM\0*", "a TIFF image", "tifffile or GDAL reads it"),
];
const HDF5: &str = "h5py and the HDF5 tools read it, chunks of Blosc with the plug-ins of crates/hdf5-filter: \
     `HDF5_PLUGIN_PATH=DIRECTORY h5dump FILE`";
const NETCDF: &str = "`ncdump` and the netCDF libraries read it";

/// What bytes are that no Blosc program has written, and the next step.
pub(crate) fn name(bytes: &dyn ReadAt) -> Option<String> {
    let mut head = [0; 16];
    let len = usize::try_from(bytes.len().ok()?).unwrap_or(usize::MAX).min(head.len());
    bytes.read_at(0, &mut head[..len]).ok()?;
    let (_, what, next) = STARTS.iter().find(|(start, _, _)| head[..len].starts_with(start))?;
    Some(format!("{what}; {next}"))
}

/// The same for a directory.
pub(crate) fn name_of_directory(path: &Path) -> Option<String> {
    let version = Version::of(path)?.number();
    Some(match zarr::is_array(path) {
        true => format!(
            "an array of Zarr version {version}; `blosc convert {0} NAME.b2nd` makes a b2nd of it",
            path.display()
        ),
        false => format!("a group of Zarr version {version}; `blosc ls -r {}` lists the arrays in it", path.display()),
    })
}
