//! The audience of a post to a circle: the status filter.
//!
//! Called only for limited statuses, when they are published: also for a scheduled one, so that the members at that
//! time count. The server stores the result as silent mentions. Replies without a circle and edits do not reach it.

use rookery_plugin::prelude::*;

use crate::{MOST_MEMBERS, sql};

/// Members per read, as many as a statement returns.
const PART: u16 = 10_000;

/// The author's parameters for a circle.
#[derive(Clone, Debug, PartialEq)]
enum CircleChoice {
    /// Nothing: the server decides.
    Nothing,
    /// To post to it.
    Circle(Id),
    /// To post to one that they do not name.
    NoCircle,
    /// To post to one that cannot be.
    Unknown,
}

#[on(status_filter)]
fn reach(_ctx: &Context, draft: &Draft) -> Result<Verdict> {
    let circle = match asked(draft)? {
        CircleChoice::Nothing => return Ok(Verdict::Pass),
        CircleChoice::NoCircle => return Ok(refused(Error::invalid("visibility: circle needs a circle_id"))),
        CircleChoice::Unknown => return Ok(refused(not_found())),
        CircleChoice::Circle(id) => id,
    };
    match sql::owner_of(circle).optional::<i64>()? {
        None => Ok(refused(not_found())),
        Some(owner) if owner != draft.author => Ok(refused(Error::invalid("circle_id: this circle is not yours"))),
        Some(_) => Ok(Verdict::Change(Change {
            limited_scope: Some("circle".to_owned()),
            recipients: Some(members(circle)?),
            extra: Some(json!({ "circle": circle }).to_string()),
            new_conversation: true,
            ..Change::default()
        })),
    }
}

/// `visibility` and `circle_id` as the client sent them. A blank id is none.
fn asked(draft: &Draft) -> Result<CircleChoice> {
    if draft.editing.is_some() {
        return Ok(CircleChoice::Nothing);
    }
    let word: Option<String> = draft.param("visibility")?;
    let id = match draft.param::<String>("circle_id") {
        Ok(sent) => sent.map(|text| text.trim().to_owned()).filter(|text| !text.is_empty()),
        Err(_) => return Ok(CircleChoice::Unknown),
    };
    let circle = |text: String| text.parse().map_or(CircleChoice::Unknown, CircleChoice::Circle);
    Ok(match (word.as_deref(), id) {
        (Some("circle"), None) => CircleChoice::NoCircle,
        (Some("circle" | "limited"), Some(id)) => circle(id),
        (Some("reply"), Some(id)) if draft.reply_to.is_none() => circle(id),
        _ => CircleChoice::Nothing,
    })
}

/// Those whose follow has not ended.
fn members(circle: Id) -> Result<Vec<i64>> {
    let mut members: Vec<i64> = Vec::new();
    while members.len() < MOST_MEMBERS {
        let after = members.last().copied().unwrap_or_default();
        let part: Vec<i64> = sql::audience(circle, after, PART).all()?;
        let last = part.len() < usize::from(PART);
        members.extend(part);
        if last {
            break;
        }
    }
    Ok(members)
}

fn not_found() -> Error {
    Error::with_code(404, "circles.not-found", "There is no such circle")
}

fn refused(error: Error) -> Verdict {
    Verdict::Refuse(error.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn draft(extra: &serde_json::Value, reply_to: Option<i64>) -> Draft {
        crate::tests::draft(Id(1), extra, reply_to)
    }

    #[test]
    fn circle_is_asked_for_by_three_words() {
        for (extra, reply_to, wanted) in [
            (json!({ "visibility": "circle", "circle_id": "5" }), None, CircleChoice::Circle(Id(5))),
            (json!({ "visibility": "circle", "circle_id": 5 }), Some(9), CircleChoice::Circle(Id(5))),
            (json!({ "visibility": "circle", "circle_id": " " }), None, CircleChoice::NoCircle),
            (json!({ "visibility": "circle" }), Some(9), CircleChoice::NoCircle),
            (json!({ "visibility": "circle", "circle_id": "five" }), None, CircleChoice::Unknown),
            (json!({ "visibility": "limited", "circle_id": "5" }), Some(9), CircleChoice::Circle(Id(5))),
            (json!({ "visibility": "limited", "circle_id": "" }), None, CircleChoice::Nothing),
            (json!({ "visibility": "limited" }), Some(9), CircleChoice::Nothing),
            (json!({ "visibility": "reply", "circle_id": "5" }), None, CircleChoice::Circle(Id(5))),
            (json!({ "visibility": "reply", "circle_id": "5" }), Some(9), CircleChoice::Nothing),
            (json!({ "visibility": "mutual", "circle_id": "5" }), None, CircleChoice::Nothing),
        ] {
            assert_eq!(asked(&draft(&extra, reply_to)), Ok(wanted), "{extra}");
        }
        let edit = Draft { editing: Some(3), ..draft(&json!({ "visibility": "circle" }), None) };
        assert_eq!(asked(&edit), Ok(CircleChoice::Nothing));
    }
}
