// Package browser tests the page in a real browser: what is on the screen after a
// person has clicked, dragged and typed has to be what the library computes.
//
// It has no code of its own. Its tests look for Chromium as $LOSSEP_BROWSER, or under
// its usual names in the PATH, and are skipped where there is none. Every test fails on
// anything the page writes to the console as a warning or an error, and on any request
// that leaves 127.0.0.1. With -screenshots DIR they leave pictures to look at.
package browser
