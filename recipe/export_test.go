package recipe

// HasTarget tells whether the file has the outcome.
func (rd *Reader) HasTarget() bool { return rd.bound.target >= 0 || rd.bound.condition != nil }
