// Package cluster goes over the rows of a table on the machines of a cluster, by Apache
// Beam: the passes of a fit, and decisions about new cases.
//
// What is done to a shard of rows is a pure function of package pass and is not repeated
// here; this package only brings it to where it runs. The driver writes what a pass begins
// with, q and the process, to a folder that all machines can reach, and starts a pipeline
// with one element for each shard: the files and the row numbers where its rows are, never
// rows. A worker reads what the pass begins with once, streams the rows and their old
// sites, and writes the new sites and the shard's sums beside each other. The driver adds
// the sums up in the order of the shards. So the result has the same bits whatever the
// number of workers, in whatever order they work and however often one is tried again, and
// the same as that of one process.
//
// Effects of groups are learnt likewise: their tasks of package effects are jobs, and workers keep what these need of
// every row beside its site.
//
// Sums go through files and not through the pipeline: on every engine a file is the only
// way from a worker to the driver, and so nothing is shuffled but the elements. Files are
// written beside where they go and renamed, or by stores that show whole objects only.
//
// A pass is known by the checksum of what it begins with. A driver that starts again after
// it died does the same work as before, and passes that were finished are answered from
// their files.
package cluster
