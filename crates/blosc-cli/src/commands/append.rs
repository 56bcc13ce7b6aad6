//! `blosc append`

use crate::arguments::cli::Global;
use crate::failure::{At, Failure, Outcome};
use crate::inputs::format::{self, FileFormat};
use crate::inputs::input::{self, PlainFile};
use crate::inputs::source::{Opening, Source};
use crate::outputs::changing;
use crate::outputs::output::Output;
use crate::process::progress::{Progress, Task};
use crate::show::metadata::{JSON_LAYER, Metadata};
use crate::store;
use blosc_oxide::bloscpack::{AppendOptions, append_to_file};
use blosc_oxide::{ItemOrder, NdArray, NpyHeader, legacy::PackedWriter, storage::FileStorage};
use clap::Args;
use std::io::{Cursor, Read};
use std::path::PathBuf;

/// What new chunks hold where the file does not say it.
const CHUNK_SIZE: usize = 4 << 20;

/// Append data to a frame, an array, a Bloscpack file or a packed super-chunk.
///
/// The data is compressed as that in the file is. An array grows along its first axis, by whole
/// layers. If it fails, the file is as it was.
#[derive(Debug, Args)]
pub(crate) struct Append {
    /// The file to append to
    file: PathBuf,
    /// The data; `-` is standard input
    data: PathBuf,
}

impl Append {
    pub(crate) fn run(&self, global: &Global) -> Outcome {
        let place = self.file.display();
        let source = Opening::new(global).open(&self.file)?;
        if input::is_same_file(&self.file, &self.data)? {
            return Err(Failure::usage(format!("{place}: a file cannot be appended to itself; append a copy of it")));
        }
        source.check_has_data().in_data(&place)?;
        store::check_single(&source).in_data(&place)?;
        let described = described(&source).at(&place)?;
        // Whoever puts files one behind the other gets all of their bytes back.
        let is_array = matches!(&source, Source::Frame(frame) if format::is_array(frame));
        let mut data = PlainFile::open(&self.data, is_array || described.is_some())?;
        let task = Task { verb: "appending", total: data.nbytes, compressed: None };
        let progress = Progress::start(task, global.shows_progress());
        data.data = progress.reading_data(data.data);
        match source {
            Source::Frame(frame) if format::is_array(&frame) => {
                drop(frame);
                self.append_to_array(data, global)
            }
            Source::Frame(frame)
                if !matches!(FileFormat::of_frame(&frame), FileFormat::FrameBeta1 | FileFormat::FrameBeta5) =>
            {
                drop(frame);
                self.append_to_frame(data, described.as_ref(), global)
            }
            Source::Frame(_) => Err(Failure::data("an early frame cannot be changed; convert it to b2frame first")),
            Source::Bloscpack(file) => {
                drop(file);
                self.append_to_bloscpack(data.data.reader, global)
            }
            Source::Packed(packed) => {
                let first = if packed.nchunks() > 0 { Some(packed.chunk_header(0)?) } else { None };
                drop(packed);
                let (typesize, size) = first.map_or((1, CHUNK_SIZE), |header| (header.typesize(), header.nbytes()));
                self.append_to_packed(data.data.reader, typesize, size, global)
            }
            Source::Chunk(_) => Err(Failure::usage("a single chunk cannot grow; convert it to b2frame first")),
        }
        .at(place)
    }

    fn append_to_frame(&self, data: PlainFile, described: Option<&NpyHeader>, global: &Global) -> Outcome {
        if let (Some(layers), Some(described)) = (&data.array, described) {
            check_layers(layers, &described.dtype(), described.shape())?;
            check_order(layers, described)?;
        }
        let data = data.data.reader;
        changing::change(&self.file, global, |frame| {
            let usual = CHUNK_SIZE - CHUNK_SIZE % frame.typesize().min(CHUNK_SIZE);
            match frame.chunksize() {
                // The chunk of a small file is as small as that: what follows would be cut into
                // millions of its size.
                Some(size) if size < usual && frame.nchunks() == 1 && !frame.has_vlblocks() => {
                    let first = frame.bytes(0..frame.nbytes())?;
                    frame.delete(0)?;
                    frame.extend_from(Cursor::new(first).chain(data), usual)?;
                }
                size => drop(frame.extend_from(data, size.unwrap_or(usual))?),
            }
            if let Some(described) = described {
                let grown = grown(described, frame.nbytes())?;
                frame.vlmetalayers_mut().update(JSON_LAYER, grown.to_json().as_bytes())?;
            }
            Ok(())
        })
    }

    fn append_to_array(&self, data: PlainFile, global: &Global) -> Outcome {
        let mut array = NdArray::open_with(&self.file, &changing::options(&self.file, global))?.edit()?;
        if let Some(described) = &data.array {
            check_layers(described, array.dtype(), array.shape())?;
        }
        let order = data.array.as_ref().map_or_else(|| array.order(), NpyHeader::order);
        let file = data.data.into_file().at(input::shown(&self.data))?;
        array.append_from(0, &file, order)?;
        array.commit()?;
        Ok(())
    }

    fn append_to_bloscpack(&self, data: impl Read, global: &Global) -> Outcome {
        // Of a link, the file that it leads to is changed.
        let path = self.file.canonicalize()?;
        // A file without room is written anew, where an interrupted run leaves nothing behind.
        let spare = Output::beside(&path)?;
        let options = AppendOptions::new().with_rewrite(true).with_spare(spare.path());
        let options = options.with_threads(global.threads()).with_limits(global.limits());
        append_to_file(&path, data, &options)?;
        Ok(())
    }

    fn append_to_packed(&self, mut data: impl Read, typesize: usize, size: usize, global: &Global) -> Outcome {
        let storage = FileStorage::open_writable(&self.file)?;
        let mut writer = PackedWriter::open_with_limits(storage, typesize, global.limits())?;
        append_chunks(&mut writer, &mut data, size)
    }
}

fn append_chunks(writer: &mut PackedWriter<FileStorage>, data: &mut impl Read, size: usize) -> Outcome {
    let mut buffer = Vec::new();
    loop {
        buffer.clear();
        data.by_ref().take(size.max(1) as u64).read_to_end(&mut buffer)?;
        if buffer.is_empty() {
            return Ok(writer.commit()?);
        }
        writer.append(&buffer)?;
    }
}

/// The array that a file says it holds, if it is a frame that can say that it holds more. Where it
/// could not, more data would make it wrong.
fn described(source: &Source) -> Outcome<Option<NpyHeader>> {
    let metadata = Metadata::of(source)?.described()?;
    let Some(array) = metadata.array() else { return Ok(None) };
    match source {
        Source::Frame(frame) if format::is_array(frame) => Ok(None),
        Source::Frame(frame)
            if array.order() == ItemOrder::C && frame.vlmetalayers().names().any(|name| name == JSON_LAYER) =>
        {
            Ok(Some(array))
        }
        _ => Err(Failure::usage(format!(
            "its metadata describe an array of shape {:?}, which would be wrong with more data; convert it to b2nd, \
             which grows",
            array.shape()
        ))),
    }
}

/// The array with as many layers as `nbytes` are.
fn grown(array: &NpyHeader, nbytes: u64) -> Outcome<NpyHeader> {
    let layer = array.shape().get(1..).unwrap_or_default();
    let of_layers = |count| NpyHeader::new(&array.dtype(), [&[count], layer].concat(), ItemOrder::C);
    let layer_nbytes = of_layers(1)?.nbytes();
    if array.shape().is_empty() || layer_nbytes == 0 || !nbytes.is_multiple_of(layer_nbytes) {
        return Err(Failure::usage(format!(
            "{nbytes} bytes would be no whole layers of {layer_nbytes}, which the array has that the metadata describe"
        )));
    }
    Ok(of_layers(nbytes / layer_nbytes)?)
}

/// Whether layers come in the order of the array, unless they have only one.
fn check_order(layers: &NpyHeader, array: &NpyHeader) -> Outcome {
    match layers.order() == array.order() || layers.shape().len() < 2 {
        true => Ok(()),
        false => Err(Failure::usage("the items are in Fortran order, those of the frame are not; convert it to b2nd")),
    }
}

/// Whether what an .npy file describes is layers of the array, or one.
fn check_layers(described: &NpyHeader, dtype: &str, shape: &[u64]) -> Outcome {
    if described.dtype() != dtype {
        let (given, there) = (described.dtype(), dtype);
        return Err(Failure::usage(format!("items of type {given} are given, the array has {there}")));
    }
    let inner = shape.get(1..).unwrap_or_default();
    if described.shape().get(1..) != Some(inner) && described.shape() != inner {
        let (given, there) = (described.shape(), shape);
        return Err(Failure::usage(format!("an array of shape {given:?} does not go behind one of {there:?}")));
    }
    Ok(())
}
