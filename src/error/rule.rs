//! The rules for the content of a message (RFC 9113 §8), written once.
//!
//! Owns: their names, sections and sentences. Does not know: which side broke one. In what the peer
//! sent it is a `Violation`, in what the caller wants to send a `Misuse`; both convert from here,
//! so the two directions cannot drift apart.

use std::fmt;

/// One row per rule: name, section, sentence.
macro_rules! rules {
    ($($name:ident, $section:literal, $text:literal;)+) => {
        /// A rule for requests, responses and trailers that makes a message malformed if broken.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum MessageRule {
            $(#[doc = concat!($text, " (", $section, ").")] $name,)+
        }

        impl MessageRule {
            /// Where the rule is written down.
            pub const fn section(&self) -> &'static str {
                match self { $(MessageRule::$name => $section,)+ }
            }

            pub(super) const fn sentence(&self) -> &'static str {
                match self { $(MessageRule::$name => $text,)+ }
            }

            #[cfg(test)]
            pub(super) const ALL: &'static [MessageRule] = &[$(MessageRule::$name,)+];
        }
    };
}

rules! {
    // Fields.
    FieldName, "RFC 9113 §8.2.1", "A field name must be a token without upper-case letters";
    FieldValue, "RFC 9113 §8.2.1", "A field value must have no control characters, and no blank at either end";
    ConnectionField, "RFC 9113 §8.2.2", "A field that is about the connection must not be in a message";
    TeValue, "RFC 9113 §8.2.2", "The field te may only say trailers";
    SeveralHosts, "RFC 9110 §7.2", "A request must not have more than one host";
    HostValue, "RFC 9110 §7.2", "The field host must name a host";
    HostDiffers, "RFC 9113 §8.3.1", "The field host must agree with :authority";
    TooManyFields, "RFC 9113 §10.5.1", "A message must not have more fields than a map can hold";

    // Pseudo-header fields.
    PseudoUnknown, "RFC 9113 §8.3", "A pseudo-header field must be one that is defined";
    PseudoDirection, "RFC 9113 §8.3", "Requests and responses must keep to their own pseudo-header fields";
    PseudoAfterRegular, "RFC 9113 §8.3", "Pseudo-header fields must come before all others";
    PseudoRepeated, "RFC 9113 §8.3", "A pseudo-header field must not be repeated";
    PseudoInTrailers, "RFC 9113 §8.1", "Trailers must not have pseudo-header fields";

    // Requests.
    MethodMissing, "RFC 9113 §8.3.1", "A request must have a :method";
    MethodValue, "RFC 9113 §8.3.1", "The method must be a token";
    SchemeMissing, "RFC 9113 §8.3.1", "A request must have a :scheme";
    SchemeValue, "RFC 9113 §8.3.1", "The scheme must be a valid one";
    PathMissing, "RFC 9113 §8.3.1", "A request must have a :path";
    PathEmpty, "RFC 9113 §8.3.1", "The path must not be empty";
    PathValue, "RFC 9113 §8.3.1", "The path must begin with a slash, or be an asterisk for OPTIONS, without blanks or a fragment";
    AuthorityMissing, "RFC 9113 §8.5", "CONNECT must have an :authority";
    AuthorityValue, "RFC 9113 §8.3.1", "The authority must be a host and perhaps a port";
    UserInfo, "RFC 9113 §8.3.1", "The authority must not have user information";
    ConnectSchemeOrPath, "RFC 9113 §8.5", "CONNECT must have no :scheme and no :path";
    ProtocolWithoutConnect, "RFC 8441 §4", "The protocol may only be given with CONNECT";
    ProtocolNotEnabled, "RFC 8441 §3", "The protocol may only be given if the server has enabled it";
    ProtocolValue, "RFC 8441 §4", "The protocol must be the name of one";
    PromiseNotSafe, "RFC 9113 §8.4", "A promised request must be safe and cacheable";
    PromiseContent, "RFC 9113 §8.4", "A promised request must have no content";

    // Responses.
    StatusMissing, "RFC 9113 §8.3.2", "A response must have a :status";
    StatusValue, "RFC 9113 §8.3.2", "The status must be a number of three digits";
    SwitchingProtocols, "RFC 9113 §8.6", "The status 101 does not exist in HTTP/2";
    InformationalEnd, "RFC 9113 §8.1", "An informational response must not end the stream";

    // Content.
    ContentLengthValue, "RFC 9110 §8.6", "The content length must be one number";
    ContentLengthExceeded, "RFC 9113 §8.1.1", "The content must not be longer than its content length";
    ContentLengthMissed, "RFC 9113 §8.1.1", "The content must not be shorter than its content length";
    ContentForbidden, "RFC 9113 §8.1.1", "A response to HEAD, and one with status 204 or 304, must have no content";
    DataBeforeHead, "RFC 9113 §8.1", "Content must come after the headers";
    TrailersWithoutEnd, "RFC 9113 §8.1", "Trailers must end the stream";
    TunnelHeaders, "RFC 9113 §8.5", "A tunnel that CONNECT has opened carries nothing but data";
}

impl fmt::Display for MessageRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} [{}]", self.sentence(), self.section())
    }
}

impl std::error::Error for MessageRule {}
