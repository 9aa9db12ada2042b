import { compare, readCitations, STATES, summary } from '../test/citations.ts';
import { REQUIREMENTS } from '../test/requirements.ts';

// Lists what test/requirements.ts and the titles of the tests say against each other, with the sentences, so that the states can
// be brought up to date in one go. `--open` lists the binding requirements that are still open instead.

const { unknown, repeated, citedButOpen, claimedButUncited } = compare(readCitations(), STATES);

if (process.argv.includes('--open')) {
  const claimed = new Set([...STATES.held, ...STATES.partial.map(([id]) => id)]);
  for (const line of REQUIREMENTS)
    if (line.binding && !claimed.has(line.id)) console.log(`${line.id}  ${line.text}`);
} else {
  const sentences = new Map<string, string>(REQUIREMENTS.map(line => [line.id, line.text]));
  for (const said of [...unknown, ...repeated, ...citedButOpen, ...claimedButUncited]) {
    console.log(said);
    const sentence = sentences.get(said.split(' ')[0]!);
    if (sentence) console.log(`      ${sentence}`);
  }
  process.exitCode =
    unknown.length + repeated.length + citedButOpen.length + claimedButUncited.length > 0 ? 1 : 0;
}
console.log(summary());
