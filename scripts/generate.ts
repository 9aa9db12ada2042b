import path from 'node:path';
import { generateConfigReference } from '../packages/server/src/config/reference.ts';
import { generateManifest } from '../packages/server/src/store/generate-manifest.ts';
import { generateExamples } from './record-examples.ts';
import { generateOpenApi, generateOperationsPage } from './reference.ts';

// Writes every file that is made from others. With `--check` it writes nothing and fails on a file that is out of date.

/** In this order: the last two print what the examples record. */
const GENERATORS = [
  generateManifest,
  generateConfigReference,
  generateExamples,
  generateOpenApi,
  generateOperationsPage,
] as const;

const check = process.argv.includes('--check');
for (const generate of GENERATORS) {
  const { file, upToDate } = await generate({ check });
  const name = path.relative(process.cwd(), file);
  if (upToDate) console.log(`${name} is up to date`);
  else if (!check) console.log(`${name} written`);
  else {
    console.error(`${name} is out of date; run: npm run generate`);
    process.exitCode = 1;
  }
}
