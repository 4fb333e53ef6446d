//! Einsums, plans, goals and trees through serde: as their text, so that what is read is checked like any text.

use serde::de::{Deserialize, Deserializer, Error};
use serde::ser::{Serialize, Serializer};

use crate::objective::Goal;
use crate::op::EinsumOp;
use crate::planning::EinsumOptimize;
use crate::tree::ContractionTree;

macro_rules! as_text {
    ($($type:ty, $text:expr;)*) => {$(
        impl Serialize for $type {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                let text: fn(&$type) -> String = $text;
                serializer.serialize_str(&text(self))
            }
        }

        impl<'de> Deserialize<'de> for $type {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                String::deserialize(deserializer)?.parse().map_err(D::Error::custom)
            }
        }
    )*};
}

as_text! {
    EinsumOp, ToString::to_string;
    EinsumOptimize, ToString::to_string;
    Goal, ToString::to_string;
    ContractionTree, ContractionTree::to_text;
}
