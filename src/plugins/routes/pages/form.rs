//! The submission of a form of a plugin's page, checked against the fields of the page.

use rookery_plugin_host::exports::pages::{Block, Field, Form, Input, Submission, Value, View};
use serde_json::{Map, Value as Json};

/// The name of the hidden field that says which form was sent.
const FORM: &str = "_form";
/// The same for the item whose button was pressed.
const ITEM: &str = "_item";

/// Why nothing is handed to the plugin.
#[derive(Debug, PartialEq)]
pub(super) enum Refused {
    /// The page does not offer the submitted form or button, perhaps no longer.
    Unknown,
    /// The form, and the errors of its fields by their names.
    Faults(String, Vec<(String, String)>),
}

/// Reads a submission for the current page.
///
/// # Errors
/// [`Refused`].
pub(super) fn read(view: &View, sent: &Map<String, Json>) -> Result<Submission, Refused> {
    let text = |name: &str| sent.get(name).and_then(Json::as_str);
    let id = text(FORM).ok_or(Refused::Unknown)?;
    if let Some(item) = text(ITEM) {
        let offered = view.blocks.iter().any(|block| match block {
            Block::Items(items) => {
                items.items.iter().any(|known| known.id == item && known.actions.iter().any(|action| action.id == id))
            }
            Block::Text(_)
            | Block::Form(_)
            | Block::Figures(_)
            | Block::Bars(_)
            | Block::Statuses(_)
            | Block::People(_)
            | Block::Picture(_) => false,
        });
        let submission = Submission { form: id.to_owned(), item: Some(item.to_owned()), values: Vec::new() };
        return if offered { Ok(submission) } else { Err(Refused::Unknown) };
    }
    let forms = view.blocks.iter().filter_map(|block| if let Block::Form(form) = block { Some(form) } else { None });
    let form = forms.into_iter().find(|form| form.id == id).ok_or(Refused::Unknown)?;
    let values = values(form, sent)?;
    Ok(Submission { form: id.to_owned(), item: None, values })
}

fn values(form: &Form, sent: &Map<String, Json>) -> Result<Vec<(String, Value)>, Refused> {
    let (mut values, mut faults) = (Vec::new(), Vec::new());
    for field in &form.fields {
        let text = match sent.get(&field.name) {
            None => "",
            Some(Json::String(text)) => text,
            Some(_) => {
                faults.push((field.name.clone(), "is none of the choices".to_owned()));
                continue;
            }
        };
        match value(field, text) {
            Ok(Some(value)) => values.push((field.name.clone(), value)),
            Ok(None) => {}
            Err(why) => faults.push((field.name.clone(), why)),
        }
    }
    if faults.is_empty() { Ok(values) } else { Err(Refused::Faults(form.id.clone(), faults)) }
}

/// The value of a field; none where it is left out. The error continues a sentence about it.
fn value(field: &Field, text: &str) -> Result<Option<Value>, String> {
    let blank = text.trim().is_empty();
    if let Input::Choice(choices) = &field.input
        && choices.iter().any(|choice| choice.value == text)
    {
        return Ok(Some(Value::Text(text.to_owned())));
    }
    if blank && field.required {
        let flag = matches!(field.input, Input::Flag);
        return Err(if flag { "must be accepted" } else { "can't be blank" }.to_owned());
    }
    match &field.input {
        Input::Flag => Ok(Some(Value::Flag(!matches!(text, "" | "0" | "false")))),
        Input::Text((most, lines)) => {
            let text = text.replace("\r\n", "\n");
            if text.chars().count() > *most as usize {
                return Err(format!("is too long (maximum is {most} characters)"));
            }
            if *lines <= 1 && text.contains(['\n', '\r']) {
                return Err("is none of the choices".to_owned());
            }
            Ok(Some(Value::Text(text)))
        }
        Input::Integer(_) | Input::Choice(_) if blank => Ok(None),
        Input::Integer((least, most)) => match text.trim().parse() {
            Ok(number) if (*least..=*most).contains(&number) => Ok(Some(Value::Integer(number))),
            Ok(_) | Err(_) => Err(format!("is not a number from {least} to {most}")),
        },
        Input::Choice(_) => Err("is none of the choices".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use rookery_plugin_host::exports::pages::{Action, Choice, Item, Items};
    use serde_json::json;

    use super::*;

    fn field(name: &str, input: Input, required: bool) -> Field {
        Field { name: name.to_owned(), label: String::new(), hint: None, input, required, value: String::new() }
    }

    fn view() -> View {
        let choices = ["1", "5"].map(|value| Choice { value: value.to_owned(), label: value.to_owned() });
        let fields = vec![
            field("title", Input::Text((5, 1)), true),
            field("most", Input::Integer((1, 10)), false),
            field("open", Input::Flag, false),
            field("size", Input::Choice(choices.into()), false),
        ];
        let form = Form { id: "add".to_owned(), title: None, fields, submit: "Add".to_owned() };
        let delete = Action { id: "delete".to_owned(), label: "Delete".to_owned(), danger: true };
        let item = Item {
            id: "7".to_owned(),
            title: String::new(),
            lines: Vec::new(),
            link: None,
            url: None,
            actions: vec![delete],
        };
        let items = Items { title: None, items: vec![item], none: String::new() };
        View { title: String::new(), blocks: vec![Block::Form(form), Block::Items(items)], next: None }
    }

    fn sent(json: &Json) -> Result<Submission, Refused> {
        read(&view(), json.as_object().expect("an object"))
    }

    fn faults(json: &Json) -> Vec<(String, String)> {
        match sent(json) {
            Err(Refused::Faults(form, faults)) if form == "add" => faults,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn values_have_the_types_of_their_fields() {
        let whole = json!({"_form": "add", "title": "rook", "most": " 3 ", "open": "1", "size": "5", "x": "y"});
        let values = sent(&whole).expect("valid").values;
        let named = |name: &str| values.iter().find(|(known, _)| known == name).map(|(_, value)| value.clone());
        assert_eq!(values.len(), 4, "what the page does not ask for is dropped");
        assert_eq!(named("title"), Some(Value::Text("rook".to_owned())));
        assert_eq!(named("most"), Some(Value::Integer(3)));
        assert_eq!(named("open"), Some(Value::Flag(true)));
        assert_eq!(named("size"), Some(Value::Text("5".to_owned())));
        let least = sent(&json!({"_form": "add", "title": "a", "most": "", "size": ""})).expect("valid").values;
        let (title, open) =
            (("title".to_owned(), Value::Text("a".to_owned())), ("open".to_owned(), Value::Flag(false)));
        assert_eq!(least, [title, open]);
    }

    #[test]
    fn invalid_value_is_named_by_its_field() {
        let all = faults(&json!({"_form": "add", "title": " ", "most": "11", "size": "2"}));
        let names: Vec<&str> = all.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["title", "most", "size"]);
        for (wrong, why) in [
            (json!({"title": "rooks!"}), "is too long (maximum is 5 characters)"),
            (json!({"title": "a\nb"}), "is none of the choices"),
            (json!({"title": ["a"]}), "is none of the choices"),
            (json!({"title": "a", "most": "many"}), "is not a number from 1 to 10"),
        ] {
            let mut wrong = wrong;
            wrong["_form"] = json!("add");
            assert_eq!(faults(&wrong)[0].1, why);
        }
    }

    #[test]
    fn only_what_the_page_offers_is_handed_on() {
        let button = sent(&json!({"_form": "delete", "_item": "7"})).expect("offered");
        assert_eq!((button.form.as_str(), button.item.as_deref()), ("delete", Some("7")));
        for other in [
            json!({}),
            json!({"_form": "edit"}),
            json!({"_form": "delete"}),
            json!({"_form": "delete", "_item": "8"}),
            json!({"_form": "add", "_item": "7"}),
        ] {
            assert_eq!(sent(&other), Err(Refused::Unknown));
        }
    }
}
