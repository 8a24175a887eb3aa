// SPDX-License-Identifier: Apache-2.0

//! The attributes that OTELCTX_SPAN_ATTRIBUTES asks for, as the fields of
//! tracing's spans have them.

use crate::shim::{Ids, Shim};
use std::cell::Cell;
use std::fmt::Debug;
use tracing_core::field::{Field, Visit};
use tracing_subscriber::registry::{LookupSpan, SpanRef};

thread_local! {
    static SEEN: Cell<u64> = const { Cell::new(0) };
}

/// Notes which span is current after one of tracing was entered or left.
/// Returns which one was before; 0: none.
pub(crate) fn see(ids: Option<&Ids>) -> u64 {
    SEEN.replace(ids.map_or(0, Ids::span))
}

/// The names, and their indexes in the process context.
pub(crate) struct Keys(Vec<(String, u8)>);

impl Keys {
    pub(crate) fn register(shim: &Shim) -> Self {
        let names = std::env::var_os("OTELCTX_SPAN_ATTRIBUTES");
        let names = names.unwrap_or_default();
        let names = names.to_string_lossy();

        Self(
            names
                .split(',')
                .map(str::trim)
                .filter(|name| !name.is_empty())
                .filter_map(|name| Some((name.to_owned(), shim.key(name)?)))
                .collect(),
        )
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Takes the values of a span's fields, which `record` goes through. Their
    /// Debug may be anything, also a use of this span: nothing is to be locked.
    pub(crate) fn take(&self, record: impl FnOnce(&mut dyn Visit)) -> Fields {
        let mut visitor = Visitor {
            keys: self,
            fields: vec![None; self.0.len()],
        };

        record(&mut visitor);
        visitor.fields
    }

    /// Adds the attributes to the span that is shown, if they are known: those
    /// of `span` or of one that it is in, whichever has its id.
    pub(crate) fn show<'a, R>(
        &self,
        shim: &Shim,
        ids: &Ids,
        span: Option<SpanRef<'a, R>>,
    ) where
        R: LookupSpan<'a>,
    {
        for span in span.iter().flat_map(SpanRef::scope) {
            if let Some(values) = span.extensions().get::<Values>() {
                if values.span == ids.span() {
                    return self.show_all(shim, values);
                }
            }
        }
    }

    pub(crate) fn show_all(&self, shim: &Shim, values: &Values) {
        for ((_, index), value) in self.0.iter().zip(&values.of) {
            if let Some(value) = value {
                shim.set_attribute(*index, value);
            }
        }
    }
}

/// In the extensions of a span of tracing.
pub(crate) struct Values {
    /// The id that the SDK gave the span; 0: none yet.
    pub(crate) span: u64,
    /// The span that was current when this one was made; 0: none.
    outer: u64,
    of: Fields,
}

/// One for each key.
type Fields = Vec<Option<String>>;

impl Values {
    pub(crate) fn new(outer: Option<Ids>, of: Fields) -> Self {
        Self {
            span: 0,
            outer: outer.map_or(0, |ids| ids.span()),
            of,
        }
    }

    pub(crate) fn update(&mut self, fields: Fields) {
        for (value, field) in self.of.iter_mut().zip(fields) {
            if field.is_some() {
                *value = field;
            }
        }
    }

    /// Notes the id when the span is entered first. The SDK need not know of
    /// this span: then the one before is still current.
    pub(crate) fn entered(&mut self, ids: &Ids, before: u64) {
        if self.span == 0 && ![self.outer, before].contains(&ids.span()) {
            self.span = ids.span();
        }
    }
}

struct Visitor<'a> {
    keys: &'a Keys,
    fields: Fields,
}

impl Visitor<'_> {
    fn set(&mut self, field: &Field, text: impl FnOnce() -> String) {
        let mut names = self.keys.0.iter();

        if let Some(at) = names.position(|(name, _)| name == field.name()) {
            self.fields[at] = Some(text());
        }
    }
}

impl Visit for Visitor<'_> {
    fn record_str(&mut self, field: &Field, value: &str) {
        self.set(field, || value.to_owned());
    }

    fn record_f64(&mut self, field: &Field, value: f64) {
        self.set(field, || value.to_string());
    }

    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        self.set(field, || format!("{value:?}"));
    }
}
