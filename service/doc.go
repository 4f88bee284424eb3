// Package service is what every front end offers, in types: requests with their options,
// and errors in words that fit each of them.
//
// An option is defined once: its name, type, default, help and group, and where its value
// goes. The command makes a flag of it, Python a parameter and HTTP a field, and the
// documentation a row; a value that is wrong is refused by the same words on all of them,
// with each one's own name for the option. Front ends only encode and decode.
package service
