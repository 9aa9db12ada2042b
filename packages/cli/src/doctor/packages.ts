import { readCheckout } from './checkout.ts';
import type { Check } from './examination.ts';

/** Are the packages installed that this version was made with, the Node among them? */
export const packages: Check = {
  name: 'packages',
  async run({ io }) {
    const checkout = await readCheckout(io.self.args);
    if (!checkout) return [];
    const { wanted, installed, mend } = checkout;
    if (!installed) return [{ verdict: 'warning', says: 'npm has not installed the packages here.', mend }];
    // What is optional may be missing; what is there must be the right one.
    const others = [...installed].filter(([name, version]) => (wanted.get(name) ?? version) !== version);
    if (others.length > 0) {
      const [name, version] = others[0]!;
      const more = others.length > 1 ? `, and ${others.length - 1} more packages are other ones` : '';
      const says = `${name.replace(/^.*node_modules\//, '')} is installed in version ${version} and this Patchbay was made with ${wanted.get(name)}${more}.`;
      return [{ verdict: 'warning', says, mend }];
    }
    return [{ verdict: 'ok', says: `The installed packages (${installed.size}) are those of this version.` }];
  },
};
