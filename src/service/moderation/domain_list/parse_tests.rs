//! Lists in each format, with their faults, and of the largest size.

use std::fmt::Write as _;
use std::time::{Duration, Instant};

use super::super::bounds::ListPolicy;
use super::super::host::tests::rules;
use super::*;
use model::domain_policy::Flags;
use model::instance::Severity::{Noop, Silence, Suspend};

fn read(text: &str, format: Option<ListFormat>) -> Result<Parsed> {
    parse(text.as_bytes(), format, Suspend, &rules(ListPolicy::Block))
}

fn entries(text: &str) -> Vec<(String, Severity, Vec<&'static str>)> {
    let parsed = read(text, None).expect("a list");
    assert_eq!(parsed.faults, [], "{text}");
    parsed.entries.into_iter().map(|entry| (entry.domain, entry.block.severity, entry.block.flags.names())).collect()
}

fn domains(text: &str) -> Vec<String> {
    entries(text).into_iter().map(|(domain, ..)| domain).collect()
}

/// The faults as `line domain reason`.
fn faults(text: &str) -> Vec<String> {
    let parsed = read(text, None).expect("a list");
    assert_eq!(parsed.faults.len(), parsed.faults_count);
    parsed.faults.into_iter().map(|fault| format!("{} {} {}", fault.line, fault.domain, fault.reason)).collect()
}

#[test]
fn mastodon_csv_is_read() {
    let text = "\u{feff}#domain,#severity,#reject_media,#reject_reports,#public_comment,#obfuscate\r\n\
                evil.test,suspend,TRUE,False,\"spam, \"\"and\"\"\r\nmore\",true\r\n\
                \r\n\
                # a comment\r\n\
                loud.test,silence,FALSE,1,,FALSE\r\n\
                odd.test,noop,0,0,,\r\n";
    let parsed = read(text, None).expect("a list");
    assert_eq!((parsed.format, &parsed.faults), (ListFormat::Csv, &Vec::new()));
    let [evil, loud, odd] = parsed.entries.as_slice() else { panic!("{parsed:?}") };
    assert_eq!((evil.domain.as_str(), evil.block.severity), ("evil.test", Suspend));
    assert_eq!(evil.block.flags, Flags { reject_media: true, ..Flags::NONE });
    assert_eq!(evil.block.public_comment.as_deref(), Some("spam, \"and\"\r\nmore"));
    assert!(evil.block.obfuscate && !loud.block.obfuscate && !evil.block.hidden);
    assert_eq!((loud.block.severity, loud.block.flags.names()), (Silence, vec!["reject_reports"]));
    assert_eq!((odd.block.severity, odd.block.public_comment.as_deref()), (Noop, None));
}

#[test]
fn columns_are_found_by_their_names_in_any_order() {
    let text = "severity,unknown,reject_hashtag,Domain,private_comment,hidden\nsilence,x,true,a.test,see #1,yes\n";
    let parsed = read(text, None).expect("a list");
    let [entry] = parsed.entries.as_slice() else { panic!("{parsed:?}") };
    assert_eq!((entry.domain.as_str(), entry.block.severity), ("a.test", Silence));
    assert_eq!((entry.block.flags.names(), entry.block.hidden), (vec!["reject_hashtag"], true));
    assert_eq!(entry.block.private_comment.as_deref(), Some("see #1"));

    assert_eq!(
        entries("a.test,silence,x\nb.test,\nc.test,why\n"),
        [
            ("a.test".to_owned(), Silence, vec![]),
            ("b.test".to_owned(), Suspend, vec![]),
            ("c.test".to_owned(), Suspend, vec![]),
        ]
    );
    assert_eq!(domains("#domain\na.test\nb.test\n"), ["a.test", "b.test"]);
    assert_eq!(domains("domain\rb.test\ra.test"), ["b.test", "a.test"]);
}

#[test]
fn plain_list_has_a_domain_a_line() {
    let text = "\u{feff}# the domain list, of 2026\r\n\r\n  Evil.test  \r\n*.wild.test # everything\r\n\
                https://url.test/about\r\nbücher.example\t# books\r\nlast.test";
    let expected = ["evil.test", "wild.test", "url.test", "xn--bcher-kva.example", "last.test"];
    assert_eq!(domains(text), expected);
    assert_eq!(domains("a.test\rb.test\r"), ["a.test", "b.test"]);
    let parsed = parse(b"a.test\n", None, Silence, &rules(ListPolicy::Block)).expect("a list");
    assert_eq!((parsed.format, parsed.entries[0].block.severity), (ListFormat::Plain, Silence));
}

#[test]
fn json_lists_have_domains_or_objects() {
    let text = r#" ["a.test", {"domain": "b.test", "severity": "silence", "comment": "spam", "digest": "ab", "x": [{}]},
                  {"reject_media": true, "domain": "c.test", "severity": null, "obfuscate": "false", "block_trends": 1},
                  {"domain": "d.*.test", "digest": "cd"}, {}, {"domain": "e.test", "severity": "loud"}]"#;
    let parsed = read(text, None).expect("a list");
    assert_eq!(parsed.format, ListFormat::Json);
    let [a, b, c] = parsed.entries.as_slice() else { panic!("{parsed:?}") };
    assert_eq!((a.domain.as_str(), a.block.severity), ("a.test", Suspend));
    assert_eq!((b.block.severity, b.block.public_comment.as_deref()), (Silence, Some("spam")));
    assert_eq!((c.block.severity, c.block.flags.names()), (Suspend, vec!["reject_media", "block_trends"]));
    let lines: Vec<usize> = parsed.faults.iter().map(|fault| fault.line).collect();
    assert_eq!(lines, [4, 5, 6]);
    assert!(parsed.faults[0].reason.contains("hidden") && parsed.faults[2].reason.contains("\"loud\""));
    for text in ["{}", "[", "[1]", "[[\"a.test\"]]", "[\"a.test\"] x", "{\"domain\": \"a.test\"}"] {
        let error = read(text, Some(ListFormat::Json)).expect_err(text).to_string();
        assert!(error.contains("JSON"), "{text}: {error}");
    }
}

#[test]
fn each_line_is_taken_or_named() {
    let text =
        "a.test\r\nno domain\r\n.com\r\nsocial.home.example\r\nA.test\r\n203.0.113.7\r\nb.test\r\nsub.friend.test\r\n";
    assert_eq!(
        faults(text),
        [
            "2 no domain is not a domain",
            "3 .com is a public suffix, below which unrelated sites are",
            "4 social.home.example is a domain of this server",
            "5 A.test is listed on line 1 already",
            "6 203.0.113.7 is an IP address: IP addresses are blocked separately",
            "8 sub.friend.test is excluded from lists",
        ]
    );
    let text = "#domain,#severity,#reject_media\na.test,loud,\nb.test,silence,maybe\nc.test,\"silence\n,suspend\nd.test,suspend\n";
    assert_eq!(
        faults(text),
        [
            "2 a.test has an unknown severity \"loud\": it must be suspend, silence or noop",
            "3 b.test has the value \"maybe\" for reject_media: it must be true or false",
            "4  has a quotation mark that is not closed",
            "5  is not a domain",
        ]
    );
    let long = format!("#domain,#public_comment\na.test,{}\n", "a".repeat(10_001));
    assert!(faults(&long)[0].contains("10000 characters"), "{:?}", faults(&long));
    let allows = parse(b"*.a.test\nb.test\n", None, Suspend, &rules(ListPolicy::Allow)).expect("a list");
    assert_eq!((allows.entries.len(), allows.faults[0].line), (1, 1));
}

#[test]
fn text_that_is_not_a_list_is_refused() {
    for (list, reason) in [
        (b"".as_slice(), "empty"),
        (b"\xef\xbb\xbf\r\n# nothing\r\n", "empty"),
        (b"#domain,#severity\n", "empty"),
        (b"[]", "empty"),
        (b"a.test\nb\xff.test\n", "line 2"),
    ] {
        let error = parse(list, None, Suspend, &rules(ListPolicy::Block)).expect_err("no list").to_string();
        assert!(error.contains(reason), "{error}");
    }
    let large = vec![b'\n'; LIST_MAX + 1];
    assert!(matches!(parse(&large, None, Suspend, &rules(ListPolicy::Block)), Err(Error::TooLarge(_))));
    let many: String = (0..=ENTRIES_MAX).fold(String::new(), |mut text, n| {
        let _ = writeln!(text, "d{n}.test");
        text
    });
    assert!(read(&many, None).expect_err("too many").to_string().contains("500000 entries"));
}

#[test]
fn large_lists_take_linear_time() {
    let mut text = String::from("#domain,#severity,#reject_media,#reject_reports,#public_comment,#obfuscate\r\n");
    for n in 0..200_000 {
        let _ = match n % 50 {
            0 => write!(text, "https://bücher{n}.example/x,suspend,TRUE,TRUE,,FALSE\r\n"),
            1 => write!(text, "com,suspend,TRUE,TRUE,,FALSE\r\n"),
            2 => write!(text, "\"open{n}.test,suspend\r\n"),
            _ => write!(text, "*.evil{n}.test,suspend,TRUE,TRUE,\"a, b\",FALSE\r\n"),
        };
    }
    let begun = Instant::now();
    let parsed = read(&text, None).expect("a list");
    assert!(begun.elapsed() < Duration::from_secs(20), "{:?}", begun.elapsed());
    assert_eq!((parsed.entries.len(), parsed.faults_count), (192_000, 8_000), "an open mark costs its line alone");
    for hostile in ["\"a\n".repeat(200_000), "\"\n,".repeat(200_000), format!("{}\"", "a.test,\n".repeat(200_000))] {
        let begun = Instant::now();
        let _ = read(&hostile, Some(ListFormat::Csv));
        assert!(begun.elapsed() < Duration::from_secs(20), "{:?}", begun.elapsed());
    }
}
