import { STOCK_CLIENTS } from './clients.ts';
import { type Examined, examine } from './examine.ts';

// The program of one examination: what is asked comes in EXAMINE, the complaints are the last line written.

const { client: name, examined } = JSON.parse(process.env.EXAMINE ?? '') as {
  client: string;
  examined: Examined;
};
const client = STOCK_CLIENTS.find(each => each.name === name);
if (!client) throw new Error(`There is no client ${name}.`);
const complaints = await examine(client, examined);
process.stdout.write(`${JSON.stringify(complaints)}\n`, () => {
  // Clients may keep timers and sockets; their user is done.
  process.exit();
});
