//! Weights on file: a table with the game and policy it is for, and where it comes from. Parsing only; who has a file
//! system reads the bytes.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::weights::{WeightTable, WeightsError};

/// The format that this program writes and reads.
pub const FORMAT: u32 = 1;

/// A weights file: what `tune` writes and `--weights` reads.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WeightsFile {
    /// Version of this format.
    pub format: u32,
    /// The game's key.
    pub game: String,
    /// The policy's name.
    pub policy: String,
    /// The number of players it is for, where a policy has one table for each.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub players: Option<u8>,
    /// Hash of the table, 16 hex digits: a file that was cut or edited says so.
    pub hash: String,
    /// The weights.
    pub table: WeightTable,
    /// Where they come from: seed, decisions, equations, result. For people; nothing reads it.
    #[serde(default)]
    pub provenance: BTreeMap<String, String>,
}

impl WeightsFile {
    /// A file of this table.
    pub fn new(game: &str, policy: &str, players: Option<u8>, table: WeightTable) -> Self {
        let hash = format!("{:016x}", table.hash());
        Self {
            format: FORMAT,
            game: game.to_owned(),
            policy: policy.to_owned(),
            players,
            hash,
            table,
            provenance: BTreeMap::new(),
        }
    }

    /// The file in a text.
    ///
    /// # Errors
    /// What is wrong with it, in one line.
    pub fn parse(text: &str) -> Result<Self, WeightsError> {
        let unreadable = |why: String| WeightsError::Unreadable(why);
        let file: Self = serde_json::from_str(text).map_err(|error| unreadable(error.to_string()))?;
        if file.format != FORMAT {
            return Err(unreadable(format!("format {}, but this program reads {FORMAT}", file.format)));
        }
        let hash = format!("{:016x}", file.table.hash());
        if hash != file.hash {
            return Err(unreadable(format!("its table has the hash {hash}, but it says {}", file.hash)));
        }
        Ok(file)
    }

    /// The text of the file: one line a stage.
    pub fn text(&self) -> String {
        let quoted = |text: &str| serde_json::Value::from(text).to_string();
        let list = |items: &[String]| items.iter().map(|item| quoted(item)).collect::<Vec<_>>().join(", ");
        let numbers = |row: &Vec<f64>| row.iter().map(|weight| format!("{weight:?}")).collect::<Vec<_>>().join(", ");
        let rows: Vec<String> = self.table.rows.iter().map(|row| format!("      [{}]", numbers(row))).collect();
        let provenance: Vec<String> =
            self.provenance.iter().map(|(key, value)| format!("    {}: {}", quoted(key), quoted(value))).collect();
        let players = self.players.map(|players| format!("  \"players\": {players},\n")).unwrap_or_default();
        format!(
            "{{\n  \"format\": {},\n  \"game\": {},\n  \"policy\": {},\n{players}  \"hash\": {},\n  \"table\": {{\n    \
             \"stages\": [{}],\n    \"terms\": [{}],\n    \"rows\": [\n{}\n    ]\n  }},\n  \"provenance\": \
             {{\n{}\n  }}\n}}\n",
            self.format,
            quoted(&self.game),
            quoted(&self.policy),
            quoted(&self.hash),
            list(&self.table.stages),
            list(&self.table.terms),
            rows.join(",\n"),
            provenance.join(",\n")
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file() -> WeightsFile {
        let table = WeightTable {
            stages: vec!["lead".to_owned(), "follow".to_owned()],
            terms: vec!["a".to_owned(), "b".to_owned()],
            rows: vec![vec![1.5, -0.0], vec![1e-3, 0.1 + 0.2]],
        };
        let mut file = WeightsFile::new("toy", "hard", Some(3), table);
        file.provenance.insert("seed".to_owned(), "7 \"quoted\"".to_owned());
        file
    }

    #[test]
    fn what_is_written_is_read_to_the_bit() {
        let back = WeightsFile::parse(&file().text()).expect("its own text");
        assert_eq!(back, file());
        assert_eq!(back.table.hash(), file().table.hash());
        let plain = WeightsFile { players: None, provenance: BTreeMap::new(), ..file() };
        assert_eq!(WeightsFile::parse(&plain.text()).expect("its own text"), plain);
    }

    #[test]
    fn an_edited_table_is_refused() {
        let edited = file().text().replace("1.5", "1.6");
        assert!(matches!(WeightsFile::parse(&edited), Err(WeightsError::Unreadable(_))));
        assert!(matches!(WeightsFile::parse("{}"), Err(WeightsError::Unreadable(_))));
        assert!(WeightsFile::parse(&file().text().replace("\"format\": 1", "\"format\": 2")).is_err());
    }
}
