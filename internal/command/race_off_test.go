//go:build !race

package command

// underRaceDetector says that memory is not what the program itself takes.
const underRaceDetector = false
