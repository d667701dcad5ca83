//! Numbers: one spelling per decimal value.

/// Writes a JSON number as RFC 8785 does if its nearest double, so written, has the same decimal value; otherwise by
/// its exact digits, as `<digits>e<exponent>`. An exponent past `i64` leaves the text as it is.
pub(super) fn push(out: &mut String, text: &str) {
    let exact = Decimal::of(text);
    let double = text.parse::<f64>().ok().filter(|value| value.is_finite());
    if let Some(short) = double.map(ecmascript)
        && exact.is_some()
        && Decimal::of(&short) == exact
    {
        out.push_str(&short);
        return;
    }
    match exact {
        Some(Decimal {
            negative,
            digits,
            exponent,
        }) => {
            if negative {
                out.push('-');
            }
            out.push_str(&digits);
            out.push('e');
            out.push_str(&exponent.to_string());
        }
        None => out.push_str(text),
    }
}

/// `±digits × 10^exponent`, digits without zeros at either end. Zero has no digits, no sign and exponent 0.
#[derive(PartialEq, Eq)]
struct Decimal {
    negative: bool,
    digits: String,
    exponent: i64,
}

impl Decimal {
    fn of(text: &str) -> Option<Self> {
        let (negative, text) = match text.strip_prefix('-') {
            Some(rest) => (true, rest),
            None => (false, text),
        };
        let (mantissa, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let digits = format!("{whole}{fraction}");
        let digits = digits.trim_start_matches('0');
        let kept = digits.trim_end_matches('0');
        if kept.is_empty() {
            return Some(Self {
                negative: false,
                digits: String::new(),
                exponent: 0,
            });
        }
        let dropped = i64::try_from(digits.len() - kept.len()).ok()?;
        let fraction = i64::try_from(fraction.len()).ok()?;
        let exponent: i64 = exponent.parse().ok()?;
        Some(Self {
            negative,
            digits: kept.to_owned(),
            exponent: exponent.checked_sub(fraction)?.checked_add(dropped)?,
        })
    }
}

/// A finite double as ECMAScript's `Number::toString` writes it, from the shortest digits that read back as it.
pub(super) fn ecmascript(value: f64) -> String {
    if value == 0.0 {
        return "0".to_owned();
    }
    let scientific = shortest(value.abs());
    let (mantissa, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let digits = mantissa.replace('.', "");
    // Where the point stands, counted from the first digit.
    let point = exponent.parse::<i32>().unwrap_or_default() + 1;
    let count = i32::try_from(digits.len()).unwrap_or_default();
    let zeros = |count: i32| "0".repeat(usize::try_from(count).unwrap_or_default());
    let split = if (1..=21).contains(&point) {
        point.min(count)
    } else {
        1
    };
    let (head, tail) = digits.split_at(usize::try_from(split).unwrap_or_default());
    let dot = if tail.is_empty() { "" } else { "." };
    let text = match point {
        1..=21 => format!("{head}{dot}{tail}{}", zeros(point - count)),
        -5..=0 => format!("0.{}{digits}", zeros(-point)),
        _ => format!("{head}{dot}{tail}e{:+}", point - 1),
    };
    if value < 0.0 {
        format!("-{text}")
    } else {
        text
    }
}

/// The fewest digits that read back as `value`; of several, the nearest, and of two as near, the even one. Rust's own
/// shortest form takes the larger of two as near.
fn shortest(value: f64) -> String {
    let any = format!("{value:e}");
    let digits = any.bytes().take_while(|byte| *byte != b'e');
    let digits = digits.filter(u8::is_ascii_digit).count();
    let even = format!("{value:.*e}", digits.saturating_sub(1));
    if even.parse() == Ok(value) { even } else { any }
}
