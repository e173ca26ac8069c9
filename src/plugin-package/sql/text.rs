//! Template syntax in statements: `:name` and helpers in braces, expanded token by token before the SQL is parsed.

use sqlparser::dialect::{Dialect, PostgreSqlDialect, SQLiteDialect};
use sqlparser::tokenizer::{Token, Tokenizer};

use database::Engine;
use database::confined::ParamType;

/// Longest text, in bytes.
const MOST_BYTES: usize = 32 << 10;

/// Most tokens of a text: bounds the depth of the syntax tree.
const MOST_TOKENS: usize = 4_000;

/// The value of a placeholder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Slot {
    /// The parameter with this index.
    Param(usize),
    /// `{now}`
    Now,
    /// The upper bound of a page (`max_id`), exclusive.
    Before,
    /// The lower bound of a page (`since_id` or `min_id`), exclusive.
    After,
}

/// The tokens of plain SQL for one engine.
#[derive(Clone, Debug, Default)]
pub struct Text {
    /// Tokens with `$1`, `$2` … for the slots.
    pub tokens: Vec<Token>,
    /// The values to bind, in order.
    pub slots: Vec<Slot>,
    /// `{page:…}`
    pub page: Option<Page>,
    /// Places that name a parameter which may be a text.
    pub texts: usize,
}

/// The pagination of a statement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Page {
    /// The column of ids.
    pub column: String,
    /// The placeholder of the limit.
    pub limit: String,
}

/// The SQL dialect of `engine`.
#[must_use]
pub fn dialect(engine: Engine) -> &'static dyn Dialect {
    match engine {
        Engine::Sqlite => &SQLiteDialect {},
        Engine::Postgres => &PostgreSqlDialect {},
    }
}

/// Parses and expands `text`. `params` are the declared parameters.
///
/// # Errors
/// The mistake, as a clause: "it names :foo, which `-- params:` does not declare".
pub fn read(text: &str, params: &[(String, ParamType)], engine: Engine) -> Result<Text, String> {
    if text.len() > MOST_BYTES {
        return Err(format!("it is longer than {MOST_BYTES} bytes: split it"));
    }
    let tokens = tokens(text, engine)?;
    if tokens.len() > MOST_TOKENS {
        return Err(format!("it has more than {MOST_TOKENS} words and signs: split it"));
    }
    let mut reader = Reader { engine, params, out: Text::default() };
    let mut rest = tokens.into_iter();
    while let Some(token) = rest.next() {
        match token {
            Token::Colon => {
                let slot = reader.param(&word(rest.next())?)?;
                reader.placeholder(slot);
            }
            Token::LBrace => {
                let inside: Vec<Token> = rest.by_ref().take_while(|token| *token != Token::RBrace).collect();
                reader.helper(&inside)?;
            }
            Token::Placeholder(sign) => return Err(format!("it has the placeholder {sign}: write :name")),
            other => reader.out.tokens.push(other),
        }
    }
    Ok(reader.out)
}

fn tokenize(text: &str, engine: Engine) -> Result<Vec<Token>, String> {
    Tokenizer::new(dialect(engine), text).tokenize().map_err(|error| format!("it cannot be read: {error}"))
}

fn word(token: Option<Token>) -> Result<String, String> {
    match token {
        Some(Token::Word(word)) if word.quote_style.is_none() => Ok(word.value),
        _ => Err("a colon must precede the name of a parameter".to_owned()),
    }
}

struct Reader<'a> {
    engine: Engine,
    params: &'a [(String, ParamType)],
    out: Text,
}

impl Reader<'_> {
    fn param(&self, name: &str) -> Result<Slot, String> {
        match self.params.iter().position(|(known, _)| known == name) {
            Some(index) => Ok(Slot::Param(index)),
            None => Err(format!("it names :{name}, which \"-- params:\" does not declare")),
        }
    }

    fn placeholder(&mut self, slot: Slot) {
        let token = Token::Placeholder(self.number(slot));
        self.out.tokens.push(token);
    }

    /// The placeholder `$n` of a slot; the same for each use.
    fn number(&mut self, slot: Slot) -> String {
        self.out.texts += usize::from(self.is_text(slot));
        let index = self.out.slots.iter().position(|known| *known == slot).unwrap_or_else(|| {
            self.out.slots.push(slot);
            self.out.slots.len() - 1
        });
        format!("${}", index + 1)
    }

    fn is_text(&self, slot: Slot) -> bool {
        let kind = match slot {
            Slot::Param(index) => self.params.get(index).map(|(_, kind)| *kind),
            Slot::Now | Slot::Before | Slot::After => None,
        };
        match kind {
            Some(ParamType::Text | ParamType::Blob | ParamType::Json | ParamType::Integers | ParamType::Texts) => true,
            Some(ParamType::Boolean | ParamType::Integer | ParamType::Real) | None => false,
        }
    }

    fn helper(&mut self, inside: &[Token]) -> Result<(), String> {
        let text: String = inside.iter().map(|token| format!("{token} ")).collect();
        let words: Vec<&str> = text.split_whitespace().filter(|word| *word != ":").collect();
        let snippet = match words.as_slice() {
            ["now"] => self.number(Slot::Now),
            ["in", list] => self.list(list, " IN (SELECT value FROM json_each($))", " = ANY($)")?,
            ["not_in", list] => self.list(list, " NOT IN (SELECT value FROM json_each($))", " <> ALL($)")?,
            ["each", list, "as" | "AS", alias] => self.each(list, alias)?,
            ["page", column @ ..] if !column.is_empty() && self.out.page.is_none() => self.page(&column.concat())?,
            _ => {
                return Err(format!(
                    "it has {{{}}}, which is none of {{now}}, {{in:list}}, {{not_in:list}}, {{each:list as e}} and \
                     one {{page:column}}",
                    text.trim()
                ));
            }
        };
        self.out.tokens.extend(tokens(&snippet, self.engine)?);
        Ok(())
    }

    fn kind(&self, name: &str) -> Option<ParamType> {
        self.params.iter().find(|(known, _)| known == name).map(|(_, kind)| *kind)
    }

    fn list(&mut self, name: &str, sqlite: &str, postgres: &str) -> Result<String, String> {
        let slot = self.param(name)?;
        if !matches!(self.kind(name), Some(ParamType::Integers | ParamType::Texts)) {
            return Err(format!(":{name} is no list: declare it as integers or texts"));
        }
        let number = self.number(slot);
        Ok(match self.engine {
            Engine::Sqlite => sqlite.replace('$', &number),
            Engine::Postgres => postgres.replace('$', &number),
        })
    }

    fn each(&mut self, name: &str, alias: &str) -> Result<String, String> {
        let slot = self.param(name)?;
        let function = match (self.engine, self.kind(name)) {
            (Engine::Sqlite, Some(ParamType::Integers | ParamType::Texts | ParamType::Json)) => "json_each",
            (Engine::Postgres, Some(ParamType::Integers | ParamType::Texts)) => "unnest",
            (Engine::Postgres, Some(ParamType::Json)) => "jsonb_array_elements",
            _ => return Err(format!(":{name} is no list: declare it as integers, texts or json")),
        };
        let number = self.number(slot);
        let columns = if self.engine == Engine::Postgres { "(value)" } else { "" };
        Ok(format!("{function}({number}) AS {alias}{columns}"))
    }

    fn page(&mut self, column: &str) -> Result<String, String> {
        let (before, after) = (self.number(Slot::Before), self.number(Slot::After));
        let limit = self.param("limit")?;
        self.out.page = Some(Page { column: column.to_owned(), limit: self.number(limit) });
        Ok(format!("({column} < {before} AND {column} > {after})"))
    }
}

/// The tokens of SQL that the host wrote.
///
/// # Errors
/// When it is not SQL.
pub(super) fn tokens(text: &str, engine: Engine) -> Result<Vec<Token>, String> {
    Ok(tokenize(text, engine)?.into_iter().filter(|token| !matches!(token, Token::Whitespace(_))).collect())
}
