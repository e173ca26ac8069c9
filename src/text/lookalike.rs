//! Look-alike spellings of user names: `adm1n`, `a_d_m_i_n` and `adrnin` are read as `admin`.
//!
//! User names have letters, digits and underscores of ASCII, so the confusable characters of Unicode that a name can have
//! are those: digits that look like letters, and letters that look like others.

/// The form by which names are compared: names that look alike have the same. It is lower-case, has no underscores, and is
/// not for reading: `1`, `l` and `i` are one letter, `rn` is `m` and `vv` is `w`. Empty for a name of underscores.
#[must_use]
pub fn skeleton(name: &str) -> String {
    let letters = name.chars().filter(|letter| *letter != '_').map(|letter| match letter.to_ascii_lowercase() {
        '0' => 'o',
        '1' | 'l' => 'i',
        '2' => 'z',
        '3' => 'e',
        '4' => 'a',
        '5' => 's',
        '6' | '9' => 'g',
        '7' => 't',
        '8' => 'b',
        other => other,
    });
    letters.collect::<String>().replace("rn", "m").replace("vv", "w")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_look_alike_have_one_skeleton() {
        for (name, others) in [
            ("admin", &["ADMIN", "adm1n", "4dmin", "admln", "_a_d_m_i_n_", "adrnin", "ad_rn1n"][..]),
            ("support", &["5upp0rt", "Suppor7"]),
            ("wally", &["vvally", "wa11y", "vv4_iiy"]),
            ("bob", &["808", "b0b"]),
        ] {
            for other in others {
                assert_eq!(skeleton(other), skeleton(name), "{other}");
            }
        }
        assert_ne!(skeleton("admin"), skeleton("adnin"));
        assert_eq!(skeleton("___"), "");
    }
}
