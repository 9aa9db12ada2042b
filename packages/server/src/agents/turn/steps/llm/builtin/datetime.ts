import { type BuiltInTool, NoResult, textArgument } from './built-in-tool.ts';

const MAX_CHARACTERS = 100;
const SECOND_MS = 1_000;
const UNITS: Readonly<Record<string, number>> = {
  seconds: SECOND_MS,
  minutes: 60 * SECOND_MS,
  hours: 3_600 * SECOND_MS,
  days: 86_400 * SECOND_MS,
  weeks: 7 * 86_400 * SECOND_MS,
};
/** Beyond it there are no dates. */
const LAST_MS = 8.64e15;
/** Without an offset a time would be one of the machine's own zone. */
const TIME = /^\d{4}-\d\d-\d\d(?:T\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(?:Z|[+-]\d\d:\d\d))?$/;

type Arguments = Readonly<Record<string, unknown>>;

const OPERATIONS: Readonly<Record<string, (args: Arguments, now: number) => string>> = {
  now: (args, now) => shown(now, args),
  convert: args => shown(timeIn(args, 'time'), args),
  add: args => shown(timeIn(args, 'time') + amountIn(args), args),
  difference: args => differenceBetween(timeIn(args, 'time'), timeIn(args, 'other')),
};

export const datetime: BuiltInTool = {
  description:
    'Tells the time and reckons with it. now: the time in a zone; convert: a time in another zone; add: a time some seconds, minutes, hours, days or weeks later, earlier with a negative amount; difference: how long from time to other.',
  inputSchema: {
    type: 'object',
    properties: {
      operation: { type: 'string', enum: Object.keys(OPERATIONS) },
      zone: { type: 'string', description: 'IANA name such as Europe/Budapest; UTC if omitted' },
      time: { type: 'string', description: 'ISO 8601 with an offset, or a date: 2026-11-30T09:00:00+01:00' },
      other: { type: 'string', description: 'The second time of difference' },
      amount: { type: 'number' },
      unit: { type: 'string', enum: Object.keys(UNITS) },
    },
    required: ['operation'],
    additionalProperties: false,
  },
  run(args, now) {
    const operation = textArgument(args, 'operation', MAX_CHARACTERS);
    if (!Object.hasOwn(OPERATIONS, operation))
      throw new NoResult(`operation must be one of ${Object.keys(OPERATIONS).join(', ')}`);
    return OPERATIONS[operation]!(args, now);
  },
};

function timeIn(args: Arguments, name: string): number {
  const text = textArgument(args, name, MAX_CHARACTERS);
  const at = TIME.test(text) ? Date.parse(text) : Number.NaN;
  if (Number.isNaN(at))
    throw new NoResult(`"${name}" must be a date, or a time with an offset, as 2026-11-30T09:00:00+01:00`);
  return at;
}

function amountIn(args: Arguments): number {
  const { amount } = args;
  const unit = textArgument(args, 'unit', MAX_CHARACTERS);
  if (typeof amount !== 'number' || !Number.isFinite(amount)) throw new NoResult('"amount" must be a number');
  if (!Object.hasOwn(UNITS, unit))
    throw new NoResult(`"unit" must be one of ${Object.keys(UNITS).join(', ')}`);
  return amount * UNITS[unit]!;
}

/** `2026-11-30T14:05:00+01:00 (Monday, Europe/Budapest)` */
function shown(at: number, args: Arguments): string {
  const zone = args.zone === undefined ? 'UTC' : textArgument(args, 'zone', MAX_CHARACTERS);
  if (Math.abs(at) > LAST_MS) throw new NoResult('there is no such date');
  const parts = new Map(
    formatFor(zone)
      .formatToParts(at)
      .map(({ type, value }) => [type, value]),
  );
  const part = (type: Intl.DateTimeFormatPartTypes) => parts.get(type) ?? '';
  const offset = part('timeZoneName').replace('GMT', '') || '+00:00';
  const date = `${part('year').padStart(4, '0')}-${part('month')}-${part('day')}`;
  const time = `${part('hour')}:${part('minute')}:${part('second')}`;
  return `${date}T${time}${offset} (${part('weekday')}, ${zone})`;
}

function formatFor(zone: string): Intl.DateTimeFormat {
  try {
    return new Intl.DateTimeFormat('en-US', {
      ...{ timeZone: zone, calendar: 'iso8601', numberingSystem: 'latn', hourCycle: 'h23', weekday: 'long' },
      ...{ year: 'numeric', month: '2-digit', day: '2-digit' },
      ...{ hour: '2-digit', minute: '2-digit', second: '2-digit', timeZoneName: 'longOffset' },
    });
  } catch {
    throw new NoResult('"zone" must be the IANA name of a time zone, such as Europe/Budapest');
  }
}

function differenceBetween(from: number, to: number): string {
  const seconds = Math.round((to - from) / SECOND_MS);
  let left = Math.abs(seconds);
  const parts = (['days', 'hours', 'minutes', 'seconds'] as const).flatMap(unit => {
    const size = UNITS[unit]! / SECOND_MS;
    const count = Math.floor(left / size);
    left -= count * size;
    return count === 0 ? [] : [`${count} ${unit}`];
  });
  return `${seconds < 0 ? '-' : ''}${parts.join(' ') || '0 seconds'} (${seconds} seconds)`;
}
