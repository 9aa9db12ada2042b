/** Ends the waiting for a person when its time is over. */
export const EXPIRE_PAUSE = 'expire-pause';

/** Who decides then. */
export const BY_TIMEOUT = 'system:timeout';

/** Goes on with a turn whose pause is decided, or that was cut off, on whichever node comes first. */
export const CONTINUE_TURN = 'continue-turn';
