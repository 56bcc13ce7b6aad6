//! What files say beyond their data, in a form that every format can give and take.

use crate::arguments::array;
use crate::inputs::format::{self, FileFormat};
use crate::inputs::source::Source;
use crate::python::{TENSOR_LAYER, described_tensor};
use blosc_oxide::{Frame, Limits, NdArray, NpyHeader, SuperChunk, legacy::PackedSpecial};

/// The metalayer that holds what is metadata in a Bloscpack file: a JSON text, often the
/// description of an array.
pub(crate) const JSON_LAYER: &str = "bloscpack";
/// What the metadata of a Bloscpack file is called on the command line, where everything has a
/// name.
pub(crate) const BLP_NAME: &str = "metadata";
/// The one variable-length metalayer that early frames and packed super-chunks have a place for.
pub(crate) const USER_LAYER: &str = "usermeta";
/// What a packed super-chunk has besides, if it is no JSON.
const PACKED_LAYER: &str = "metadata";

/// The longest text or metalayer that is looked at for the description of an array.
const MAX_DESCRIPTION: usize = 1 << 20;

/// Named contents.
pub(crate) type Layers = Vec<(String, Vec<u8>)>;

/// All metadata of a file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Metadata {
    /// Metalayers, but for those that describe an array.
    pub(crate) layers: Layers,
    /// Variable-length metalayers.
    pub(crate) vllayers: Layers,
    /// A JSON text: the metadata of Bloscpack.
    pub(crate) json: Option<String>,
    /// The array that the layer of python-blosc2 describes, as long as that is among the others.
    tensor: Option<NpyHeader>,
}

impl Metadata {
    /// The metadata of an array's description alone.
    pub(crate) fn of_array(array: &NpyHeader) -> Self {
        Self { json: Some(array.to_json()), ..Self::default() }
    }

    /// The metadata of a file.
    pub(crate) fn of(source: &Source) -> blosc_oxide::Result<Self> {
        Ok(match source {
            Source::Chunk(_) => Self::default(),
            Source::Frame(frame) => Self::of_super_chunk(frame)?,
            Source::Bloscpack(file) => {
                Self { json: file.metadata().map(|metadata| metadata.text().to_owned()), ..Self::default() }
            }
            Source::Packed(packed) => {
                let mut metadata = Self::default();
                if let Some(content) = packed.special(PackedSpecial::UserData)? {
                    metadata.set_vllayer(USER_LAYER, content);
                }
                if let Some(content) = packed.special(PackedSpecial::Metadata)? {
                    metadata.set_vllayer(PACKED_LAYER, content);
                    metadata.take_json(PACKED_LAYER);
                }
                metadata
            }
        })
    }

    /// The metadata of a super-chunk.
    fn of_super_chunk(sc: &SuperChunk) -> blosc_oxide::Result<Self> {
        let mut metadata = Self::default();
        for (name, content) in sc.metalayers().iter().filter(|(name, _)| !format::ARRAY_LAYERS.contains(name)) {
            metadata.layers.push((name.to_owned(), content.to_vec()));
        }
        metadata.vllayers = sc.vlmetalayers().contents()?;
        metadata.take_json(JSON_LAYER);
        Ok(metadata)
    }

    /// The same with what python-blosc2 says about the array that the data is.
    pub(crate) fn described(mut self) -> blosc_oxide::Result<Self> {
        let layer =
            self.vllayers.iter().find(|(name, content)| name == TENSOR_LAYER && content.len() <= MAX_DESCRIPTION);
        if let Some((_, content)) = layer {
            self.tensor = Some(described_tensor(content, &Limits::new())?);
        }
        Ok(self)
    }

    /// Adds what an array says about itself.
    pub(crate) fn describe(&mut self, array: &NdArray) {
        if let Ok(described) = array::description(array, array.shape()) {
            self.json = Some(described.to_json());
        }
    }

    /// Takes another description in place of one that is there; a JSON text that says something
    /// else stays.
    pub(crate) fn redescribe(&mut self, array: &NpyHeader) {
        if self.json.is_none() || self.array().is_some() {
            self.json = Some(array.to_json());
        }
        self.drop_tensor();
    }

    /// Says what the layer of python-blosc2 says in our own way, where the format has no such
    /// layers, or where it would be wrong as soon as the array grows.
    pub(crate) fn settle(&mut self, format: FileFormat) {
        if let (Some(tensor), false) = (&self.tensor, matches!(format, FileFormat::B2frame | FileFormat::Sframe)) {
            let described = tensor.to_json();
            self.json.get_or_insert(described);
            self.drop_tensor();
        }
    }

    fn drop_tensor(&mut self) {
        if self.tensor.take().is_some() {
            self.vllayers.retain(|(name, _)| name != TENSOR_LAYER);
        }
    }

    /// The array that the metadata describes.
    pub(crate) fn array(&self) -> Option<NpyHeader> {
        let described = self.json.as_deref().and_then(|json| NpyHeader::from_json(json).ok().flatten());
        described.or_else(|| self.tensor.clone())
    }

    /// Adds a metalayer, or replaces it.
    pub(crate) fn set_layer(&mut self, name: &str, content: Vec<u8>) {
        set(&mut self.layers, name, content);
        self.take_json(JSON_LAYER);
    }

    /// Adds a variable-length metalayer, or replaces it.
    pub(crate) fn set_vllayer(&mut self, name: &str, content: Vec<u8>) {
        set(&mut self.vllayers, name, content);
        self.take_json(JSON_LAYER);
    }

    /// Makes a layer of this name the JSON text, if it is one.
    fn take_json(&mut self, name: &str) {
        for layers in [&mut self.vllayers, &mut self.layers] {
            let Some(place) = layers.iter().position(|(other, _)| other == name) else { continue };
            if let Ok(text) = std::str::from_utf8(&layers[place].1)
                && NpyHeader::from_json(text).is_ok()
            {
                self.json = Some(text.to_owned());
                layers.remove(place);
            }
        }
    }
}

fn set(layers: &mut Layers, name: &str, content: Vec<u8>) {
    match layers.iter_mut().find(|(other, _)| other == name) {
        Some((_, old)) => *old = content,
        None => layers.push((name.to_owned(), content)),
    }
}

/// The array that a file says it holds, if it is no array itself.
pub(crate) fn described_array(source: &Source) -> blosc_oxide::Result<Option<NpyHeader>> {
    match source {
        Source::Frame(frame) => described_in_frame(frame),
        other => Ok(Metadata::of(other)?.array()),
    }
}

/// The same for a frame. Nothing but the description is decompressed, and nothing that is too long
/// for one.
pub(crate) fn described_in_frame(frame: &Frame) -> blosc_oxide::Result<Option<NpyHeader>> {
    let layers = frame.vlmetalayers();
    let short = |name: &str| match layers.nbytes(name) {
        Ok(Some(nbytes)) if nbytes <= MAX_DESCRIPTION => layers.get(name).ok().flatten(),
        _ => None,
    };
    let variable = short(JSON_LAYER);
    let texts = [frame.metalayers().get(JSON_LAYER), variable.as_deref()];
    let described =
        texts.into_iter().flatten().find_map(|text| NpyHeader::from_json(std::str::from_utf8(text).ok()?).ok());
    match described.flatten() {
        Some(array) => Ok(Some(array)),
        None => short(TENSOR_LAYER).map(|layer| described_tensor(&layer, &Limits::new())).transpose(),
    }
}
