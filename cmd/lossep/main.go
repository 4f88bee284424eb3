// Command lossep makes Bayesian decisions when mistakes do not cost the same.
package main

import "github.com/lossep/lossep/internal/command"

func main() { command.Main() }
