const DURATION =
  /^P(?:(\d{1,6})W|(?:(\d{1,6})D)?(?:T(?=\d)(?:(\d{1,9})H)?(?:(\d{1,9})M)?(?:(\d{1,9})(?:\.(\d{1,3}))?S)?)?)$/;

const SECOND_MS = 1_000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

/**
 * Milliseconds of an ISO-8601 duration such as `PT30M`, `P1DT12H`, `P2W`. `undefined` for anything else, also for years and
 * months, which are not always as long.
 */
export function parseDuration(text: string): number | undefined {
  const parts = DURATION.exec(text);
  if (!parts || text === 'P') return undefined;
  const [weeks, days, hours, minutes, seconds] = parts.slice(1, 6).map(part => Number(part ?? 0));
  const fraction = Number((parts[6] ?? '').padEnd(3, '0'));
  return (
    weeks! * 7 * DAY_MS +
    days! * DAY_MS +
    hours! * HOUR_MS +
    minutes! * MINUTE_MS +
    seconds! * SECOND_MS +
    fraction
  );
}
