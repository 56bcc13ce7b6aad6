//! Our side of a test in which a driver changes a frame or an array with both libraries in turns: it tells us line by line
//! what to do, as JSON, and gets a line for each. One handle stays open for as long as the driver wants.

use crate::frames::{from_hex, packed};
use blosc_oxide::{
    ArrayOptions, AxisSelection, Fill, Frame, FrameLayout, FrameOptions, NdArray, Options, Result, SuperChunk, Threads,
    storage::Durability,
};
use std::io::{BufRead, Write};
use testkit::serde_json::{self, Value};

/// A frame or an array at a path.
enum Target {
    Frame(Box<Frame>),
    Array(Box<NdArray>),
}

impl Target {
    fn create(path: &str, request: &Value) -> Result<Self> {
        let layout = if request["sparse"] == true { FrameLayout::Sparse } else { FrameLayout::Contiguous };
        let options = options().with_layout(layout).with_checksums(request["checksums"] == true);
        let options = options.with_metalayer("unit", packed(b"kelvin"));
        if request["array"] != true {
            return Frame::create(path, options).map(|frame| Self::Frame(Box::new(frame)));
        }
        let array = ArrayOptions::new(&[300, 8], Options::new(4)).with_chunks(&[1, 8]).with_blocks(&[1, 8]);
        let array = array.with_dtype("<i4").with_frame(options);
        NdArray::create(path, &array, &Fill::Zeros).map(|array| Self::Array(Box::new(array)))
    }

    fn open(path: &str, is_array: bool) -> Result<Self> {
        let frame = Frame::open_writable_with(path, options())?;
        Ok(if is_array { Self::Array(Box::new(NdArray::from_frame(frame)?)) } else { Self::Frame(Box::new(frame)) })
    }

    fn super_chunk(&mut self) -> &mut SuperChunk {
        match self {
            Self::Frame(frame) => frame,
            Self::Array(array) => array.super_chunk_mut(),
        }
    }

    fn array(&mut self) -> &mut NdArray {
        if let Self::Array(array) = self { array } else { panic!("an array is asked for") }
    }

    /// All that there is, for the driver to compare.
    fn digest(&mut self) -> Result<String> {
        match self {
            Self::Frame(frame) => frame.refresh()?,
            Self::Array(array) => array.refresh()?,
        };
        let mut bytes = if let Self::Array(array) = self { shape_and_items(array)? } else { Vec::new() };
        let is_array = matches!(self, Self::Array(_));
        let frame = self.super_chunk();
        for index in (0..frame.nchunks()).filter(|_| !is_array) {
            bytes.extend(frame.decompress(index)?);
        }
        bytes.extend(frame.metalayers().get("unit").unwrap_or_default());
        let layers = frame.vlmetalayers();
        let mut names: Vec<&str> = layers.names().collect();
        names.sort_unstable();
        for name in names {
            bytes.extend(name.as_bytes());
            bytes.extend(layers.get(name)?.unwrap_or_default());
        }
        Ok(testkit::sha256_hex(&bytes))
    }
}

fn options() -> FrameOptions {
    FrameOptions::new(Options::new(4).with_threads(Threads::serial())).with_durability(Durability::None)
}

fn shape_and_items(array: &NdArray) -> Result<Vec<u8>> {
    let mut bytes: Vec<u8> = array.shape().iter().flat_map(|length| length.to_le_bytes()).collect();
    bytes.extend(array.to_vec()?);
    Ok(bytes)
}

/// Does what is asked for on standard input until that ends.
pub(crate) fn serve(path: &str) -> usize {
    let mut open = None;
    let mut count = 0;
    for line in std::io::stdin().lock().lines() {
        let request: Value = serde_json::from_str(&line.expect("a line")).expect("JSON");
        let answer = answer(path, &mut open, &request).unwrap_or_else(|error| format!("error: {error}"));
        writeln!(std::io::stdout(), "{answer}").expect("somebody reads it");
        count += 1;
    }
    count
}

fn answer(path: &str, open: &mut Option<Target>, request: &Value) -> Result<String> {
    let is_array = request["array"] == true;
    match (request["do"].as_str().expect("what to do"), open.as_mut()) {
        ("create", _) => *open = Some(Target::create(path, request)?),
        ("open", _) => {
            *open = None;
            *open = Some(Target::open(path, is_array)?);
        }
        ("look", Some(opened)) => return opened.digest(),
        ("look afresh", _) => {
            let mut opened = Target::open(path, is_array)?;
            let is_good = Frame::open(path)?.verify()?.is_good();
            return if is_good { opened.digest() } else { Ok("error: damaged".to_owned()) };
        }
        (change, Some(opened)) => make(change, opened, request)?,
        (_, None) => panic!("nothing is open"),
    }
    Ok("done".to_owned())
}

fn make(change: &str, open: &mut Target, request: &Value) -> Result<()> {
    let number = |name: &str| request[name].as_u64().expect("a number");
    let index = || usize::try_from(number("index")).expect("an index");
    let data = || from_hex(request["data"].as_str().expect("data"));
    let name = || request["name"].as_str().expect("a name");
    match change {
        "append" => open.super_chunk().append(&data()),
        "insert" => open.super_chunk().insert(index(), &data()),
        "update" => open.super_chunk().update(index(), &data()),
        "delete" => open.super_chunk().delete(index()),
        "reverse" => {
            let order: Vec<usize> = (0..open.super_chunk().nchunks()).rev().collect();
            open.super_chunk().reorder(&order)
        }
        "meta" => open.super_chunk().metalayers_mut().update("unit", packed(&data())),
        "layer" => {
            let layers = open.super_chunk().vlmetalayers_mut();
            let is_there = layers.names().any(|other| other == name());
            if is_there { layers.update(name(), &packed(&data())) } else { layers.add(name(), &packed(&data())) }
        }
        "no layer" => open.super_chunk().vlmetalayers_mut().remove(name()).map(|_| ()),
        "resize" => open.array().resize(&[number("rows"), 8]),
        "write" => {
            let rows: AxisSelection = (number("start")..number("end")).into();
            open.array().write(&[rows, AxisSelection::All], &data())
        }
        "append rows" => open.array().append(0, &data()),
        "commit" => match open {
            Target::Frame(frame) => frame.commit(),
            Target::Array(array) => array.commit(),
        },
        _ => panic!("{change} is not known"),
    }
}
