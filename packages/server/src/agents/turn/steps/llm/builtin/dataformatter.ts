import { isObject, parseJson } from '../../../../../kernel/json.ts';
import { type BuiltInTool, NoResult, textArgument } from './built-in-tool.ts';

const MAX_CHARACTERS = 200_000;
const MAX_DEPTH = 100;
const MAX_COLUMNS = 1_000;
/** An empty row has all its columns, so few characters may be very many cells. */
const MAX_CELLS = 200_000;
/** Deep JSON is indented with many times its characters. */
const MAX_RESULT = 1_000_000;

const OPERATIONS: Readonly<Record<string, (data: string) => string>> = {
  format_json: data => JSON.stringify(jsonIn(data), null, 2),
  compact_json: data => JSON.stringify(jsonIn(data)),
  json_to_csv: data => csvOf(jsonIn(data)),
  csv_to_json: data => JSON.stringify(rowsIn(data)),
  to_base64: data => Buffer.from(data).toString('base64'),
  from_base64: fromBase64,
  url_encode: data => encodeURIComponent(data.toWellFormed()),
  url_decode: urlDecoded,
};

export const dataformatter: BuiltInTool = {
  description:
    'Writes data in another form: JSON indented or compact, a JSON list of objects as CSV and back, base64 and URL encoding and back.',
  inputSchema: {
    type: 'object',
    properties: {
      operation: { type: 'string', enum: Object.keys(OPERATIONS) },
      data: { type: 'string' },
    },
    required: ['operation', 'data'],
    additionalProperties: false,
  },
  run(args) {
    const operation = textArgument(args, 'operation', MAX_CHARACTERS);
    if (!Object.hasOwn(OPERATIONS, operation))
      throw new NoResult(`operation must be one of ${Object.keys(OPERATIONS).join(', ')}`);
    const result = OPERATIONS[operation]!(textArgument(args, 'data', MAX_CHARACTERS));
    if (result.length > MAX_RESULT) throw new NoResult(`the result may have ${MAX_RESULT} characters`);
    return result;
  },
};

function jsonIn(data: string): unknown {
  const json = parseJson(data, { maxDepth: MAX_DEPTH });
  if (!json.ok) throw new NoResult('data is no JSON');
  return json.value;
}

function csvOf(value: unknown): string {
  if (!Array.isArray(value) || !value.every(isObject))
    throw new NoResult('data must be a JSON list of objects, one for each row');
  const columns = [...new Set(value.flatMap(row => Object.keys(row)))];
  refuseTooMany(columns, value);
  const rows = value.map(row => columns.map(name => (Object.hasOwn(row, name) ? row[name] : undefined)));
  return [columns, ...rows].map(row => row.map(cellOf).join(',')).join('\n');
}

function cellOf(value: unknown): string {
  if (value === undefined || value === null) return '';
  const text = typeof value === 'object' ? JSON.stringify(value) : String(value);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** The first row names the columns (RFC 4180). */
function rowsIn(data: string): Record<string, string>[] {
  const [columns = [], ...rows] = cellsIn(data);
  refuseTooMany(columns, rows);
  return rows.map(row => Object.fromEntries(columns.map((name, index) => [name, row[index] ?? ''])));
}

function refuseTooMany(columns: readonly string[], rows: readonly unknown[]): void {
  if (columns.length > MAX_COLUMNS) throw new NoResult(`data may have ${MAX_COLUMNS} columns`);
  if (columns.length * rows.length > MAX_CELLS) throw new NoResult(`data may have ${MAX_CELLS} cells`);
}

const CELL = /(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r?\n|$)/y;

function cellsIn(data: string): string[][] {
  const text = data.replace(/\r?\n$/, '');
  const rows: string[][] = [[]];
  CELL.lastIndex = 0;
  for (;;) {
    const found = CELL.exec(text);
    if (!found) throw new NoResult(`data is no CSV in row ${rows.length}`);
    const [, quoted, plain = '', end] = found;
    rows.at(-1)!.push(quoted === undefined ? plain : quoted.replaceAll('""', '"'));
    if (end === '') return rows;
    if (end !== ',') rows.push([]);
  }
}

function fromBase64(data: string): string {
  const compact = data.replace(/\s+/g, '');
  if (!/^[A-Za-z0-9+/_-]*={0,2}$/.test(compact)) throw new NoResult('data is no base64');
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(Buffer.from(compact, 'base64'));
  } catch {
    throw new NoResult('data is no text in base64');
  }
}

function urlDecoded(data: string): string {
  try {
    return decodeURIComponent(data.replaceAll('+', ' '));
  } catch {
    throw new NoResult('data is not URL encoded');
  }
}
