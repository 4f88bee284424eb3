// Builds dist/ from the sources beside this file: one script, the licences of what is
// bundled in it, and a manifest of checksums by which a test in Go tells whether dist/
// was built from the sources at hand.
import {createHash} from "node:crypto";
import {mkdir, readdir, readFile, rm, writeFile} from "node:fs/promises";
import {dirname} from "node:path";
import {fileURLToPath} from "node:url";
import {build} from "esbuild";

process.chdir(dirname(fileURLToPath(import.meta.url)));

const sources = ["build.js", "package.json", "package-lock.json", ...(await inFolder("src"))].sort();

await mkdir("dist", {recursive: true});
const {metafile} = await build({
  entryPoints: ["src/main.js"],
  outfile: "dist/page.js",
  bundle: true,
  minify: true,
  format: "esm",
  target: "es2022",
  charset: "utf8",
  legalComments: "none", // they are all in LICENSES.txt
  banner: {js: "/*! Licences of the libraries in this file: LICENSES.txt */"},
  metafile: true,
  logLevel: "warning",
});
await writeFile("dist/LICENSES.txt", await licences(Object.entries(metafile.outputs["dist/page.js"].inputs)));
const written = ["dist/LICENSES.txt", "dist/page.js"];
for (const path of await inFolder("dist")) if (!written.includes(path)) await rm(path);
await writeFile("dist/manifest.json", JSON.stringify({sources: await checksums(sources), files: await checksums(written)}, null, 2) + "\n");

async function inFolder(folder) {
  return (await readdir(folder)).map((name) => `${folder}/${name}`).sort();
}

async function checksums(paths) {
  const sums = {};
  for (const path of paths) sums[path] = createHash("sha256").update(await readFile(path)).digest("hex");
  return sums;
}

// licences is the notice of every package of which some code is in the bundle.
async function licences(inputs) {
  const packages = new Set();
  for (const [path, {bytesInOutput}] of inputs) {
    const name = /^node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(path)?.[1];
    if (name && bytesInOutput > 0) packages.add(name);
  }
  const notices = [];
  for (const name of [...packages].sort()) {
    const {version, license} = JSON.parse(await readFile(`node_modules/${name}/package.json`, "utf8"));
    const text = await readFile(`node_modules/${name}/LICENSE`, "utf8");
    notices.push(`${name} ${version} (${license})\n\n${text.replaceAll("\r\n", "\n").trim()}\n`);
  }
  return `page.js contains code of the following packages.\n\n${notices.join(`\n${"-".repeat(80)}\n\n`)}`;
}
