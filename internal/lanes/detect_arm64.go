package lanes

// detect lists what every processor of this architecture can run.
func detect() []*code {
	return []*code{{
		name:      "neon",
		distances: oneStrip(distancesNEON), weighted: oneWeightedStrip(weightedDistancesNEON), dots: oneStrip(dotsNEON),
		gaussian: inVectors(4, gaussianNEON), exponential: inVectors(4, exponentialNEON),
		matern32: inVectors(4, matern32NEON), matern52: inVectors(4, matern52NEON),
		columnSums: probed(columnSumsNEON), columnSlopes: contracted(columnSlopesNEON),
		add: inStrips(addNEON), normals: pairsOfVectors(4, normalsNEON), blend: fourRows(4, blendNEON), outer: square(4, outerNEON),
		rows: 4, squares: oneTile(4, squaresNEON),
	}}
}
