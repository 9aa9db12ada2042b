import { vi } from 'vitest';

/** Waits until the check passes; long enough for a busy machine that must start a process first. */
export function eventually(check: () => void): Promise<void> {
  return vi.waitFor(check, { timeout: 15_000, interval: 20 });
}
