/** What of an answer that is an object the platform makes use of, besides its text. */
export interface AnswerExtras {
  readonly quickReplies: boolean;
  readonly sentiment: boolean;
}

const text = (description: string) => ({ type: 'string', description });
const list = (description: string, items: object) => ({ type: 'array', description, items });
const object = (properties: Readonly<Record<string, object>>, description?: string) => ({
  type: 'object',
  ...(description !== undefined && { description }),
  properties,
  required: Object.keys(properties),
  additionalProperties: false,
});

const QUICK_REPLIES = list(
  'At most five short answers the person may want to give next; empty where none fits',
  object({ value: text('As the person would say it') }),
);

const SENTIMENT = object(
  {
    score: {
      type: 'number',
      minimum: -1,
      maximum: 1,
      description: 'From -1, very unhappy, to 1, very happy',
    },
    trend: text('How it has changed in the conversation: improving, stable or declining'),
    emotions: list('Such as joy, anger or confusion', { type: 'string' }),
    intent: text('What the person wants, in a few words'),
    urgency: { type: 'string', enum: ['low', 'medium', 'high'] },
    confidence: { type: 'number', minimum: 0, maximum: 1, description: 'How sure you are of all this' },
    topicTags: list('What it is about, a word each', { type: 'string' }),
    userFeedback: text('What the person says about the answers so far; empty where nothing'),
  },
  'How the person feels who wrote the last message',
);

/** The schema of answers that say more than their text (platform.md 2.6). */
export function answerSchema({ quickReplies, sentiment }: AnswerExtras): object {
  return object({
    htmlResponseText: text('The whole answer to the person, as they shall read it'),
    ...(quickReplies && { quickReplies: QUICK_REPLIES }),
    ...(sentiment && { sentiment: SENTIMENT }),
  });
}
