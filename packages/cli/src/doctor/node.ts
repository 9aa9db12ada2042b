import { type Checkout, readCheckout } from './checkout.ts';
import type { Check } from './examination.ts';

/** Older ones cannot read our files; see bin/patchbay.mjs. */
const TESTED_MAJOR = 24;

/** Is it the Node that the platform is tested with? npm brings that one along where it is made for the machine. */
export const node: Check = {
  name: 'node',
  async run({ io: { nodeVersion, osPlatform, self } }) {
    if (Number.parseInt(nodeVersion, 10) === TESTED_MAJOR) {
      return [{ verdict: 'ok', says: `Node ${nodeVersion} runs this.` }];
    }
    const checkout = await readCheckout(self.args);
    const says = `Node ${nodeVersion} runs this; Patchbay is tested with Node ${TESTED_MAJOR}.`;
    return [{ verdict: 'warning', says, mend: checkout && remedy(checkout, osPlatform) }];
  },
};

/** npm's own scripts run on the Node that npm has installed. */
function remedy({ wanted, installed, mend }: Checkout, osPlatform: string): string | undefined {
  const isPinned = (name: string) => name.startsWith(`node_modules/node-${osPlatform}-`);
  if ([...(installed?.keys() ?? [])].some(isPinned)) return 'npm start';
  return [...wanted.keys()].some(isPinned) ? mend : undefined;
}
