//! `blosc decompress`

use super::compress::Target;
use crate::array;
use crate::cli::Global;
use crate::failure::{At, Failure, Outcome};
use crate::inputs::format;
use crate::inputs::input::{self, is_npy_name};
use crate::inputs::reading::{Plain, unpickled};
use crate::inputs::source::{Opening, Source};
use crate::inputs::steady::read_steadily;
use crate::outputs::output::{self, LittleByLittle, Output, Writing};
use crate::outputs::tree::{Fate, Plan, Tree};
use crate::process::progress::{Progress, Task};
use crate::show::metadata::{Metadata, described_array};
use crate::size;
use crate::store::{self, Store, Unpacked};
use blosc_oxide::bloscpack::{ReadOptions, unpack};
use blosc_oxide::{Container, ErrorKind, ItemOrder, NpyHeader};
use clap::Args;
use std::fmt;
use std::fs::File;
use std::io::{Cursor, Read, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};

/// Decompress a file of any format, a part of it, a store of python-blosc2, or every compressed
/// file of a directory. The format is recognised by the content.
#[derive(Debug, Args)]
pub(crate) struct Decompress {
    /// The file or directory to decompress, FILE/member of a store; `-` is standard input
    input: PathBuf,
    /// Where to write; `-` is standard output [default: INPUT without its extension; with --npy,
    /// .npy follows]
    output: Option<PathBuf>,
    /// Only these bytes of the data, such as 0..1M
    #[arg(long, value_name = "A..B", value_parser = parse_range, conflicts_with = "slice")]
    bytes: Option<ByteRange>,
    /// Only this part of an array, such as "0:10,5,::2"
    #[arg(long, allow_hyphen_values = true)]
    slice: Option<String>,
    /// Write an .npy file; so does an OUTPUT that ends in .npy
    #[arg(long, conflicts_with = "bytes")]
    npy: bool,
    /// The frame or file starts at this byte of INPUT
    #[arg(long, value_name = "N", value_parser = size::parse)]
    offset: Option<u64>,
    #[command(flatten)]
    writing: Writing,
}

/// A range of bytes, either end of which can be left open.
#[derive(Debug, Clone, PartialEq, Eq)]
struct ByteRange {
    start: u64,
    end: Option<u64>,
}

fn parse_range(text: &str) -> Result<ByteRange, String> {
    let (start, end) = text.split_once("..").ok_or("A..B is needed, such as 0..1M")?;
    let start = if start.is_empty() { 0 } else { size::parse(start)? };
    let end = if end.is_empty() { None } else { Some(size::parse(end)?) };
    Ok(ByteRange { start, end })
}

impl ByteRange {
    fn within(&self, nbytes: u64) -> Outcome<Range<u64>> {
        let end = self.end.unwrap_or(nbytes);
        if self.end.is_some_and(|end| end < self.start) {
            return Err(Failure::usage(format!("--bytes {self}: it ends before it starts")));
        }
        if self.start > end || end > nbytes {
            return Err(Failure::usage(format!("--bytes {self}: there are {nbytes} bytes")));
        }
        Ok(self.start..end)
    }
}

impl fmt::Display for ByteRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}..", self.start)?;
        self.end.map_or(Ok(()), |end| write!(f, "{end}"))
    }
}

impl Decompress {
    pub(crate) fn run(&self, global: &Global) -> Outcome {
        let is_there = !input::is_stream(&self.input) && self.input.exists();
        if is_there && self.offset.is_none() && store::is_store(&self.input)? {
            return self.run_store(&self.input, &self.target()?, global);
        }
        if format::is_directory(&self.input)? && !is_frame(&self.input)? {
            return self.run_directory(global);
        }
        self.run_file(&self.input, &self.target()?, global).map_err(|failure| failure.or_repair(&self.input))
    }

    /// Every member of a store, in a directory.
    fn run_store(&self, path: &Path, target: &Path, global: &Global) -> Outcome {
        let shown = path.display();
        if input::is_stream(target) {
            return Err(Failure::data(format!("{shown}: {}", store::SEVERAL)));
        }
        if self.bytes.is_some() || self.slice.is_some() {
            return Err(Failure::usage(format!("{shown}: --bytes and --slice are for one member, FILE/member")));
        }
        let opening = Opening::new(global);
        let store = Store::open(path, &opening)?;
        let write = |source: Source, path: &Path| {
            let target = Target { path, writing: Writing::INSIDE, source: path };
            self.decompress(source, &target, global)
        };
        let name =
            |key: &str| if self.npy && !is_npy_name(Path::new(key)) { format!("{key}.npy") } else { key.to_owned() };
        store::unpack(&store, target, self.writing, Some(&Unpacked { name: &name, write: &write }), &opening)
    }

    /// Every compressed file of a directory, each beside itself or below OUTPUT.
    fn run_directory(&self, global: &Global) -> Outcome {
        if self.output.as_deref().is_some_and(input::is_stream) {
            let shown = self.input.display();
            return Err(Failure::usage(format!(
                "{shown}: a directory cannot go to standard output; `blosc cat` takes files"
            )));
        }
        let tree = Tree::of(&self.input, self.output.as_deref(), &|path| self.fate(path))?;
        let name = |_: &Path, place: PathBuf| {
            if let Some(directory) = store::without_extension(&place) {
                return directory;
            }
            self.named(format::without_extension(&place).unwrap_or(place))
        };
        let plan = Plan { verb: "decompress", output: self.output.as_deref(), writing: self.writing, name: &name };
        tree.each(&plan, global.thread_count(), global, |job, global| match store::is_store(&job.file)? {
            true => self.run_store(&job.file, &job.target, global),
            false => self.run_file(&job.file, &job.target, global),
        })
    }

    /// What is done with something in a directory: whatever is a Blosc file by its content is
    /// decompressed, and what is one by its name has to be.
    fn fate(&self, path: &Path) -> Outcome<Fate> {
        let is_whole = store::is_store(path)?;
        if path.is_dir() {
            return Ok(if is_whole || is_frame(path)? { Fate::Work } else { Fate::Enter });
        }
        let is_named = store::without_extension(path).or_else(|| format::without_extension(path)).is_some();
        if is_named {
            return Ok(Fate::Work);
        }
        let has_other_name = self.output.is_some() || self.npy;
        Ok(match is_whole || format::has_blosc_content(path)? {
            true if has_other_name => Fate::Work,
            true => Fate::Keep("without an extension to leave out: give OUTPUT"),
            false => Fate::Keep("not compressed"),
        })
    }

    fn run_file(&self, path: &Path, target: &Path, global: &Global) -> Outcome {
        let place = input::shown(path);
        if !input::is_stream(target) {
            output::check_free(target, self.writing)?;
        }
        if input::is_stream(path) && self.is_plain(target) {
            return self.run_stream(target, &place, global);
        }
        let permitted = store::split(path).map_or(path, |(store, _)| store);
        let target = Target { path: target, writing: self.writing, source: permitted };
        read_steadily(path, || {
            let source = Opening::new(global).at_offset(self.offset).open(path)?;
            self.decompress(source, &target, global).in_data(place)
        })
    }

    fn target(&self) -> Outcome<PathBuf> {
        if let Some(output) = &self.output {
            return Ok(output.clone());
        }
        if input::is_stream(&self.input) {
            return Ok(PathBuf::from("-"));
        }
        if let Some((store, member)) = store::split(&self.input) {
            let name = Path::new(&member).file_name().map_or_else(PathBuf::new, PathBuf::from);
            let name = format::without_extension(&name).unwrap_or(name);
            return Ok(self.named(store.with_file_name(name)));
        }
        if let Some(target) = store::without_extension(&self.input) {
            return Ok(target);
        }
        format::without_extension(&self.input).map(|target| self.named(target)).ok_or_else(|| {
            Failure::usage(format!(
                "{}: its name has no extension of a Blosc file to leave out; give OUTPUT",
                self.input.display()
            ))
        })
    }

    /// The name of a result that nobody has named: what is to be an .npy file is called so.
    fn named(&self, target: PathBuf) -> PathBuf {
        if !self.npy || is_npy_name(&target) {
            return target;
        }
        let mut name = target.into_os_string();
        name.push(".npy");
        name.into()
    }

    /// Whether all the data is wanted as it is.
    fn is_plain(&self, target: &Path) -> bool {
        self.bytes.is_none() && self.slice.is_none() && !self.is_npy(target) && self.offset.is_none()
    }

    /// Whether the user has asked for an .npy file, by an option or a name, and not only the name
    /// of INPUT.
    fn asks_for_npy(&self) -> bool {
        self.npy || self.output.as_deref().is_some_and(is_npy_name)
    }

    fn is_npy(&self, target: &Path) -> bool {
        self.npy || is_npy_name(target)
    }

    /// A Bloscpack file is read as it comes; everything else needs to be read here and there.
    fn run_stream(&self, target: &Path, place: &str, global: &Global) -> Outcome {
        let target = &Target { path: target, writing: self.writing, source: Path::new("-") };
        let mut stdin = input::stdin()?;
        let mut head = Vec::new();
        Read::by_ref(&mut stdin).take(128).read_to_end(&mut head).at(place)?;
        let mut all = Cursor::new(head.clone()).chain(stdin);
        if Container::detect_bytes(&head, u64::MAX) == Some(Container::Bloscpack) {
            let options = ReadOptions::new().with_limits(global.limits()).with_threads(global.threads());
            let unpacked = into_target(target, None, global, |out| Ok(unpack(&mut all, out, &options).map(|_| ())?));
            return unpacked.in_data(place);
        }
        let bytes = input::spooled(&mut all).at(place)?;
        let source = Opening::new(global).open_bytes(Box::new(bytes), place)?;
        self.decompress(source, target, global).in_data(place)
    }

    /// Refuses to replace INPUT by less than it holds: a part of its data, or its data without its
    /// metadata.
    fn check_replaced(&self, source: &Source, target: &Target<'_>) -> Outcome {
        let is_input = !input::is_stream(target.path)
            && !input::is_stream(target.source)
            && target.path.exists()
            && input::is_same_file(target.path, target.source)?;
        if !is_input {
            return Ok(());
        }
        let lost = if self.bytes.is_some() || self.slice.is_some() {
            "all but a part of its data".to_owned()
        } else {
            let Metadata { layers, vllayers, .. } = Metadata::of(source)?;
            let is_array = matches!(source, Source::Frame(frame) if format::is_array(frame));
            let shape = (is_array && !self.is_npy(target.path)).then_some("the shape and type of the array");
            let names = shape.into_iter().chain(layers.iter().chain(&vllayers).map(|(name, _)| name.as_str()));
            let names: Vec<&str> = names.collect();
            if names.is_empty() {
                return Ok(());
            }
            format!("its metadata ({})", names.join(", "))
        };
        Err(Failure::usage(format!("this would replace INPUT, and lose {lost}; give another OUTPUT")))
    }

    fn decompress(&self, source: Source, target: &Target<'_>, global: &Global) -> Outcome {
        self.check_replaced(&source, target)?;
        if self.slice.is_some() {
            return self.write_slice(source, target, global);
        }
        let is_npy = self.is_npy(target.path) && (self.asks_for_npy() || describes(&source, target.path)?);
        if is_npy && let Some((array, items)) = unpickled(&source).map_err(or_as_it_is)? {
            return into_target(target, Some(array.nbytes()), global, |out| {
                array.write_npy_header(&mut &mut *out)?;
                Ok(out.write_all(&items)?)
            });
        }
        let described = if is_npy { Some(describe(&source)?) } else { None };
        let plain = Plain::new(source)?;
        let nbytes = plain.nbytes()?;
        if let Some(bytes) = &self.bytes {
            let range = bytes.within(nbytes)?;
            let total = range.end - range.start;
            return into_target(target, Some(total), global, |out| Ok(plain.write_range(range, out)?));
        }
        let described = described.map(|described| described.with_plain(&plain, nbytes)).transpose()?;
        into_target(target, Some(nbytes), global, |out| {
            if let Some(array) = &described {
                array.write_npy_header(&mut &mut *out)?;
            }
            Ok(plain.write_to(out)?)
        })
    }

    fn write_slice(&self, source: Source, target: &Target<'_>, global: &Global) -> Outcome {
        let text = self.slice.as_deref().unwrap_or_default();
        source.check_has_data()?;
        let Ok(array) = source.into_array()? else {
            return Err(Failure::usage("--slice is for arrays, and this is none; --bytes takes a part of any data"));
        };
        let selections = array::parse_slice(text, array.shape())?;
        let shape: Vec<u64> = array.slice_shape(&selections)?.into_iter().map(|length| length as u64).collect();
        let described = array::description(&array, &shape)?;
        let is_npy = self.is_npy(target.path);
        into_target(target, Some(described.nbytes()), global, |out| {
            if is_npy {
                described.write_npy_header(&mut &mut *out)?;
            }
            Ok(array.in_order(described.order()).slice_to(&selections, out)?)
        })
    }
}

/// Whether a directory is a sparse frame, or was one before its index was lost: that is an error,
/// and its chunks are not files to be decompressed one by one.
fn is_frame(directory: &Path) -> Outcome<bool> {
    Ok(format::is_sparse_frame(directory)? || format::has_lost_index(directory)?)
}

/// What is known about the items before the file becomes its data.
struct Described {
    array: Option<NpyHeader>,
    typesize: usize,
}

fn describe(source: &Source) -> Outcome<Described> {
    let typesize = source.typesize()?.max(1);
    Ok(Described { array: described_array(source)?, typesize })
}

/// Whether data that has the name of an .npy file only because INPUT has one is an array. Not all
/// that is called so is one: what does not say it stays as it is.
fn describes(source: &Source, target: &Path) -> Outcome<bool> {
    let is_array = matches!(source, Source::Frame(frame) if format::is_array(frame));
    if is_array || described_array(source)?.is_some() {
        return Ok(true);
    }
    if matches!(source, Source::Chunk(_)) && unpickled(source)?.is_none() {
        return Err(Failure::usage(format!(
            "a chunk does not say whether {} was an array: --npy makes a flat one of it, and OUTPUT with another name \
             the bytes",
            target.display()
        )));
    }
    Ok(matches!(source, Source::Chunk(_)))
}

/// The same with what can be done about a pickle that is not understood.
fn or_as_it_is(error: blosc_oxide::Error) -> blosc_oxide::Error {
    match error.kind() {
        ErrorKind::Unsupported => {
            let message = format!("{error}; without --npy it is decompressed as it is");
            blosc_oxide::Error::new(ErrorKind::Unsupported, message)
        }
        _ => error,
    }
}

impl Described {
    /// The array that the data is: as described, or all items in one row.
    fn with_plain(self, plain: &Plain, nbytes: u64) -> Outcome<NpyHeader> {
        if let Plain::Array(array) = plain {
            return Ok(array::description(array, array.shape())?);
        }
        match self.array {
            Some(array) if array.nbytes() == nbytes => Ok(array),
            Some(array) => Err(Failure::data(format!(
                "an array of {} bytes is described, there are {nbytes}; without --npy they are decompressed as they are",
                array.nbytes()
            ))),
            None => array::described(&array::default_dtype(self.typesize), None, ItemOrder::C, Some(nbytes)),
        }
    }
}

/// Opens the target, lets `write` fill it, and makes it count.
fn into_target(
    target: &Target<'_>,
    total: Option<u64>,
    global: &Global,
    write: impl FnOnce(&mut (dyn Write + Send)) -> Outcome,
) -> Outcome {
    let progress = Progress::start(Task { verb: "decompressing", total, compressed: None }, global.shows_progress());
    if input::is_stream(target.path) {
        return write(&mut progress.writing(output::stdout()?));
    }
    if target.writing.is_inside() {
        return write(&mut progress.writing(LittleByLittle(File::create_new(target.path)?)));
    }
    let output = Output::to(target.path, target.writing)?.like(target.source);
    let file = LittleByLittle(output.create()?);
    write(&mut progress.writing(file))?;
    drop(progress);
    output.finish()
}
