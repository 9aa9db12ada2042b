/** Between words, also as JSON writes line ends. Bounded, so that looking takes time linear in the text. */
const GAP = '(?:\\s|\\\\[nrt]){1,20}';
const FILLERS = `(?:(?:all|any|every|each|of|the|your|these|those|my|our)${GAP}){0,5}`;

/** What colours and moves the text of a terminal, also as JSON writes it: it stands where words would begin. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
export const TERMINAL_SEQUENCE = /(?:\u001b|\\u001b)\[[0-9;?]{0,20}[A-Za-z]/gi;

/** Texts that tell a model what to do in place of what it was told (EX-07), in the languages of the platform. */
export const INSTRUCTION = new RegExp(
  [
    `\\b(?:ignore|disregard|forget|override)${GAP}${FILLERS}(?:previous|prior|above|earlier|preceding|foregoing)${GAP}(?:[a-z]{1,20}${GAP}){0,2}(?:instruction|prompt|rule|direction|directive|guideline|message|command|context)s?\\b`,
    `\\b(?:ignore|disregard|forget)${GAP}(?:everything|anything|all|the|what)${GAP}(?:is${GAP}|was${GAP})?(?:above|before)\\b`,
    `\\byou${GAP}are${GAP}now\\b`,
    `\\bsystem${GAP}prompt\\s{0,20}:`,
    `\\bhagy(?:d|ja)${GAP}figyelmen${GAP}kívül${GAP}(?:[a-záéíóöőúüű]{1,20}${GAP}){0,4}(?:utasítás|szabály|parancs|üzenet)[a-záéíóöőúüű]{0,12}`,
  ].join('|'),
  'gi',
);

/**
 * Marks with which models are told who speaks, closed or not. An opening `<user>` is not among them: people write it for a name to be
 * filled in.
 */
export const ROLE_MARK =
  /<\s{0,5}(?:\/\s{0,5}user|\/?\s{0,5}(?:system|assistant|developer))\b(?:[^<>]{0,100}>)?|\[\/?INST\]|<<\/?SYS>>|<\|[a-z_]{1,40}\|>/gi;
