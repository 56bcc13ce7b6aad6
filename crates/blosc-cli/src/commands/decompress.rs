//! `blosc decompress`

use super::compress::Target;
use crate::arguments::array;
use crate::arguments::cli::Global;
use crate::arguments::names::{Destination, Names};
use crate::arguments::size;
use crate::arguments::slice::{self, Taken};
use crate::failure::{At, Failure, Outcome};
use crate::inputs::format;
use crate::inputs::input::{self, is_npy_name};
use crate::inputs::reading::{Plain, unpickled};
use crate::inputs::source::{Opening, Source, is_frame, is_single};
use crate::inputs::steady::read_steadily;
use crate::outputs::output::{self, LittleByLittle, Output, Writing};
use crate::outputs::tree::{Fate, Plan, Tree};
use crate::process::progress::{Progress, Task};
use crate::process::summary::Done;
use crate::show::metadata::{BLP_NAME, Metadata, described_array};
use crate::store::{self, Store, Unpacked};
use blosc_oxide::bloscpack::{ReadOptions, unpack};
use blosc_oxide::{AxisSelection, Container, ErrorKind, ItemOrder, NpyHeader};
use clap::Args;
use std::fmt;
use std::fs::File;
use std::io::{Cursor, Read, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::time::Instant;

/// Decompress files of any format, parts of them, stores of python-blosc2, or every compressed file
/// of a directory. The format is recognised by the content.
///
/// The result of FILE.b2frame is FILE, or FILE.npy with --npy. A member of a store is FILE/member.
#[derive(Debug, Args)]
pub(crate) struct Decompress {
    #[command(flatten)]
    names: Names,
    /// Only these bytes of the data, such as 0..1M
    #[arg(long, value_name = "A..B", value_parser = parse_range, conflicts_with = "slice")]
    bytes: Option<ByteRange>,
    /// Only this part of an array, as in Python: "0:10,5,::2", "...,0"
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
    /// What writes .npy files.
    pub(crate) fn to_npy(names: Names, writing: Writing) -> Self {
        Self { names, bytes: None, slice: None, npy: true, offset: None, writing }
    }

    pub(crate) fn run(&self, global: &Global) -> Outcome {
        let named = self.names.resolve(|first, second| self.is_output(first, second))?;
        named.each(
            |path, destination| self.place(path, destination),
            |path, destination| self.run_input(path, destination, global),
        )
    }

    /// Whether the second of two names is where the data of the first goes: not if it is to be
    /// decompressed itself. What has the name of a Blosc file or a store is, also if it is damaged.
    fn is_output(&self, first: &Path, second: &Path) -> Outcome<bool> {
        if !second.exists() {
            return Ok(!format::is_directory(first)? || is_single(first)?);
        }
        let is_input = input::is_stream(first) || self.offset.is_some() || is_single(first)?;
        let is_named = format::without_extension(second).is_some() || store::without_extension(second).is_some();
        Ok(is_input && !is_named && !is_single(second)?)
    }

    /// Where the result of an input goes; those of a directory can go to itself.
    fn place(&self, path: &Path, destination: &Destination) -> Outcome<PathBuf> {
        if format::is_directory(path)? && !is_single(path)? {
            return Ok(destination.root_for(path)?.unwrap_or_else(|| path.to_owned()));
        }
        self.target(path, destination)
    }

    /// Decompresses one of the inputs.
    pub(crate) fn run_input(&self, path: &Path, destination: &Destination, global: &Global) -> Outcome {
        let is_there = !input::is_stream(path) && path.exists();
        if is_there && self.offset.is_none() && store::is_store(path)? {
            return self.run_store(path, &self.target(path, destination)?, global);
        }
        if is_there && format::is_directory(path)? && !is_frame(path)? {
            return self.run_directory(path, destination, global);
        }
        let has_extension = format::without_extension(path).is_some() || store::without_extension(path).is_some();
        if is_there && destination.name().is_none() && self.offset.is_none() && !has_extension && !is_single(path)? {
            // What it is says more than its name.
            Opening::new(global).open(path)?;
        }
        let target = self.target(path, destination)?;
        let is_npy = self.asks_for_npy(destination.name());
        let done = self.run_file(path, &target, is_npy, global).map_err(|failure| failure.or_repair(path));
        done.and_then(|()| self.names.remove(path, &target))
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
        if self.names.removes() {
            return Err(Failure::usage(format!("{shown}: --rm is not for stores; remove it yourself")));
        }
        let opening = Opening::new(global);
        let store = Store::open(path, &opening)?;
        let write = |source: Source, path: &Path| {
            let target = Target { path, writing: Writing::INSIDE, source: path };
            self.decompress(source, &target, self.npy, global)
        };
        let name =
            |key: &str| if self.npy && !is_npy_name(Path::new(key)) { format!("{key}.npy") } else { key.to_owned() };
        store::unpack(&store, target, self.writing, Some(&Unpacked { name: &name, write: &write }), &opening)
    }

    /// Every compressed file of a directory, each beside itself or below OUTPUT.
    fn run_directory(&self, root: &Path, destination: &Destination, global: &Global) -> Outcome {
        let output = destination.root_for(root)?;
        let output = output.as_deref();
        let tree = Tree::of(root, output, &|path| self.fate(path, output.is_some()))?;
        let name = |_: &Path, place: PathBuf| {
            if let Some(directory) = store::without_extension(&place) {
                return directory;
            }
            self.named(format::without_extension(&place).unwrap_or(place))
        };
        let plan = Plan { verb: "decompress", output, writing: self.writing, name: &name };
        tree.each(&plan, global.thread_count(), global, |job, global| match store::is_store(&job.file)? {
            true => self.run_store(&job.file, &job.target, global),
            false => {
                self.run_file(&job.file, &job.target, self.npy, global)?;
                self.names.remove(&job.file, &job.target)
            }
        })
    }

    /// What is done with something in a directory: whatever is a Blosc file by its content is
    /// decompressed, and what is one by its name has to be.
    fn fate(&self, path: &Path, has_output: bool) -> Outcome<Fate> {
        let is_whole = store::is_store(path)?;
        if path.is_dir() {
            return Ok(if is_whole || is_frame(path)? { Fate::Work } else { Fate::Enter });
        }
        let is_named = store::without_extension(path).or_else(|| format::without_extension(path)).is_some();
        if is_named {
            return Ok(Fate::Work);
        }
        let has_other_name = has_output || self.npy;
        Ok(match is_whole || format::has_blosc_content(path)? {
            true if has_other_name => Fate::Work,
            true => Fate::Keep("without an extension to leave out: give -o OUTPUT"),
            false => Fate::Keep("not compressed"),
        })
    }

    /// Decompresses one file; `asks_for_npy` is whether the user has asked for an .npy file, by an
    /// option or a name, and not only the name of INPUT.
    fn run_file(&self, path: &Path, target: &Path, asks_for_npy: bool, global: &Global) -> Outcome {
        let place = input::shown(path);
        self.names.check_removable(path)?;
        if !input::is_stream(target) {
            output::check_free(target, self.writing)?;
        }
        if input::is_stream(path) && self.is_plain(target) {
            return self.run_stream(target, &place, asks_for_npy, global);
        }
        let permitted = store::split(path).map_or(path, |(store, _)| store);
        let target = Target { path: target, writing: self.writing, source: permitted };
        read_steadily(path, || {
            let source = Opening::new(global).at_offset(self.offset).open(path)?;
            self.decompress(source, &target, asks_for_npy, global).in_data(place)
        })
    }

    fn target(&self, path: &Path, destination: &Destination) -> Outcome<PathBuf> {
        if let Some(output) = destination.name() {
            return Ok(output.to_owned());
        }
        if input::is_stream(path) {
            return Err(Failure::usage("standard input has no name to make one of; give -o FILE"));
        }
        if let Some((store, member)) = store::split(path) {
            let name = Path::new(&member).file_name().map_or_else(PathBuf::new, PathBuf::from);
            let name = format::without_extension(&name).unwrap_or(name);
            return Ok(destination.place_for(&self.named(store.with_file_name(name))));
        }
        let without = store::without_extension(path)
            .or_else(|| format::without_extension(path).map(|target| self.named(target)))
            .or_else(|| matches!(destination, Destination::Into(_)).then(|| self.named(path.to_owned())));
        without.map(|target| destination.place_for(&target)).ok_or_else(|| {
            Failure::usage(format!(
                "{}: its name has no extension of a Blosc file to leave out; give -o OUTPUT",
                path.display()
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
    fn asks_for_npy(&self, output: Option<&Path>) -> bool {
        self.npy || output.is_some_and(is_npy_name)
    }

    fn is_npy(&self, target: &Path) -> bool {
        self.npy || is_npy_name(target)
    }

    /// A Bloscpack file is read as it comes; everything else needs to be read here and there.
    fn run_stream(&self, target: &Path, place: &str, asks_for_npy: bool, global: &Global) -> Outcome {
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
        self.decompress(source, target, asks_for_npy, global).in_data(place)
    }

    /// Refuses to replace INPUT by less than it holds: a part of its data, or its data without its
    /// metadata.
    fn check_replaced(&self, source: &Source, target: &Target<'_>) -> Outcome {
        let is_file = !input::is_stream(target.path) && !input::is_stream(target.source);
        let is_input = is_file && target.path.exists() && input::is_same_file(target.path, target.source)?;
        let is_removed = is_file && self.names.removes();
        if !is_input && !is_removed {
            return Ok(());
        }
        let lost = if self.bytes.is_some() || self.slice.is_some() || self.offset.is_some() {
            "all but a part of its data".to_owned()
        } else {
            let metadata = Metadata::of(source)?;
            let is_array = matches!(source, Source::Frame(frame) if format::is_array(frame));
            let is_described = is_array || metadata.array().is_some();
            let shape = (is_described && !self.is_npy(target.path)).then_some("the shape and type of the array");
            let text = other_text(&metadata).map(|_| BLP_NAME);
            let layers = metadata.layers.iter().chain(&metadata.vllayers).map(|(name, _)| name.as_str());
            let names: Vec<&str> = shape.into_iter().chain(text).chain(layers).collect();
            if names.is_empty() {
                return Ok(());
            }
            format!("its metadata ({})", names.join(", "))
        };
        Err(Failure::usage(match is_input {
            true => format!("this would replace INPUT, and lose {lost}; give another OUTPUT"),
            false => format!("--rm would lose {lost}; leave it out"),
        }))
    }

    fn decompress(&self, source: Source, target: &Target<'_>, asks_for_npy: bool, global: &Global) -> Outcome {
        self.check_replaced(&source, target)?;
        if self.slice.is_some() {
            return self.write_slice(source, target, global);
        }
        let is_npy = self.is_npy(target.path) && (asks_for_npy || describes(&source, target.path)?);
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
        let taken = slice::parse(text, array.shape())?;
        let selections: Vec<AxisSelection> = taken.iter().map(Taken::selection).collect();
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

/// The JSON text of a file, if it is no description of an array.
pub(crate) fn other_text(metadata: &Metadata) -> Option<&str> {
    let text = metadata.json.as_deref()?;
    let is_description = NpyHeader::from_json(text).is_ok_and(|array| array.is_some());
    (!is_description).then_some(text)
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
    let start = Instant::now();
    let output = Output::to(target.path, target.writing)?.like(target.source);
    let file = LittleByLittle(output.create()?);
    let stored = if input::is_stream(target.source) { 0 } else { size::of_path(target.source) };
    write(&mut progress.writing(file))?;
    let nbytes = progress.done();
    drop(progress);
    output.finish()?;
    let done = Done { nbytes, stored, is_decompressed: true, time: start.elapsed() };
    global.tell_done(target.path.display(), &done);
    Ok(())
}
