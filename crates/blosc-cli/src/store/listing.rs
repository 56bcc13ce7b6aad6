//! What `blosc info` says about a store.

use super::{Member, Store};
use crate::arguments::size;
use crate::failure::{At, Outcome};
use crate::inputs::source::Opening;
use crate::process::terminal::printable;
use crate::show::facts::{Facts, ratio};
use crate::show::json;
use crate::show::rows::Row;
use serde_json::Value;
use std::fmt::Write as _;

/// A member, and what there is to know about it.
struct Listed<'a> {
    member: &'a Member,
    stored: u64,
    /// Nothing is known of what is no Blosc file.
    facts: Option<Facts>,
    /// Why there is no data.
    missing: Option<String>,
}

impl Store {
    fn listed(&self, opening: &Opening) -> Outcome<Vec<Listed<'_>>> {
        let mut all = Vec::new();
        for member in self.members() {
            let mut listed = Listed { member, stored: self.stored(member), facts: None, missing: None };
            if let Some(url) = member.remote() {
                listed.missing = Some(format!("a reference to a remote array ({url})"));
            } else if self.is_blosc(member)? {
                let source = self.open_member(member, opening, false)?;
                listed.missing = source.check_has_data().err().map(|error| error.to_string());
                listed.facts = Some(Facts::of(source).in_data(self.shown(member))?.0);
            }
            all.push(listed);
        }
        Ok(all)
    }

    /// A row for each member.
    pub(crate) fn rows(&self, place: &str, opening: &Opening) -> Outcome<Vec<Row>> {
        let row = |listed: &Listed<'_>| {
            let name = format!("{place}/{}", listed.member.name());
            match (&listed.facts, &listed.missing) {
                (Some(facts), None) => Row::of_facts(name, facts, listed.stored),
                (_, missing) => {
                    let format = if missing.is_some() { "reference" } else { "other" }.to_owned();
                    Row { name, format, nbytes: listed.stored, stored: listed.stored, ..Row::default() }
                }
            }
        };
        Ok(self.listed(opening)?.iter().map(row).collect())
    }

    /// For people: a line for each member.
    pub(crate) fn summary(&self, place: &str, opening: &Opening) -> Outcome<String> {
        let listed = self.listed(opening)?;
        let mut text = String::new();
        let nbytes = listed.iter().filter_map(|listed| listed.facts.as_ref()).map(|facts| facts.nbytes).sum();
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{}", printable(place));
        let _ = writeln!(text, "  {:<14}{}, a store of python-blosc2", "format", self.kind().name());
        let _ = writeln!(text, "  {:<14}{}", "members", listed.len());
        let _ = writeln!(text, "  {:<14}{nbytes} bytes ({})", "data", size::display(nbytes));
        for listed in listed {
            let _ = writeln!(text, "  {}", printable(&listed.line()));
        }
        Ok(text)
    }

    /// For programs: the same keys as for other files, and the members.
    pub(crate) fn to_json(&self, place: &str, opening: &Opening) -> Outcome<Value> {
        let listed = self.listed(opening)?;
        let sum = |of: fn(&Facts) -> u64| listed.iter().filter_map(|listed| listed.facts.as_ref()).map(of).sum::<u64>();
        let (nbytes, cbytes) = (sum(|facts| facts.nbytes), sum(|facts| facts.cbytes));
        let mut members = vec![("file", Value::from(place))];
        members.extend(Facts::of_nothing().to_json().into_iter().map(|(key, _)| match key {
            "format" => (key, self.kind().name().into()),
            "nbytes" => (key, nbytes.into()),
            "cbytes" => (key, cbytes.into()),
            _ => (key, Value::Null),
        }));
        members.push(("missing_data", Value::Null));
        members.push(("members", Value::Array(listed.iter().map(Listed::to_json).collect())));
        Ok(json::object(members))
    }
}

impl Listed<'_> {
    fn line(&self) -> String {
        let mut line = self.member.name().to_owned();
        match (&self.missing, &self.facts) {
            (Some(missing), _) => line.push_str(&format!(": no data: {missing}")),
            (None, None) => line.push_str(&format!(": other file, {} bytes", self.stored)),
            (None, Some(facts)) => {
                let _ = write!(line, ": {}", facts.format.name());
                if let (Some(shape), Some(dtype)) = (&facts.shape, &facts.dtype) {
                    let shape: Vec<String> = shape.iter().map(u64::to_string).collect();
                    let shape = if shape.is_empty() { "one item".to_owned() } else { shape.join(" x ") };
                    let _ = write!(line, ", {shape} of {dtype}");
                }
                let _ = write!(line, ", {} bytes", facts.nbytes);
                if let Some(ratio) = ratio(facts.nbytes, facts.cbytes) {
                    let _ = write!(line, ", ratio {ratio:.2}");
                }
            }
        }
        line
    }

    fn to_json(&self) -> Value {
        let facts = self.facts.as_ref();
        json::object(vec![
            ("name", self.member.name().into()),
            ("key", self.member.key.as_str().into()),
            ("format", facts.map(|facts| facts.format.name()).into()),
            ("nbytes", facts.map(|facts| facts.nbytes).into()),
            ("cbytes", facts.map(|facts| facts.cbytes).into()),
            ("shape", facts.and_then(|facts| facts.shape.clone()).into()),
            ("dtype", facts.and_then(|facts| facts.dtype.clone()).into()),
            ("missing_data", self.missing.clone().into()),
        ])
    }
}
