import { startLoopbackProxy } from './loopback-proxy.ts';
import {
  keysFor,
  startTestNode,
  type TestNode,
  type TestPlatform,
  type TestPlatformOptions,
} from './platform.ts';
import { newTestDatabase } from './stores.ts';

/**
 * One platform of several nodes. Its addresses are those of a proxy that gives each request to the next node; parts, data
 * folder and owner token are the first node's.
 */
export interface TestCluster extends TestPlatform {
  readonly nodes: readonly TestNode[];
}

/**
 * Nodes with a data folder each on one new PostgreSQL database, behind a proxy without stickiness. Runs
 * where `test/global-setup.ts` has started the server.
 */
export async function startTestCluster(
  options: { readonly nodes: number } & Pick<TestPlatformOptions, 'env' | 'overrides'>,
): Promise<TestCluster> {
  await using undo = new AsyncDisposableStack();
  const database = undo.use(await newTestDatabase());
  const nodes: TestNode[] = [];
  // Host and Origin name the proxy, as a load balancer passes them.
  const targets: string[] = [];
  const proxy = await startLoopbackProxy({ targets });
  undo.defer(() => proxy.close());
  for (let count = 0; count < options.nodes; count += 1) {
    const env = { PATCHBAY_PUBLIC_URL: proxy.url, ...options.env };
    const node = await startTestNode({ ...options, env, databaseUrl: database.url });
    nodes.push(undo.adopt(node, started => started.close()));
    targets.push(node.url);
  }
  const [first] = nodes;
  if (!first) throw new Error('A cluster has one node at least.');
  const keys = await keysFor(first.platform);
  const running = undo.move();
  return {
    ...first,
    ...keys,
    url: proxy.url,
    operatorUrl: throughProxy(first.operatorUrl),
    agentUrl: agentId => throughProxy(first.agentUrl(agentId)),
    nodes,
    logLines: () => nodes.flatMap(node => node.logLines()),
    close: () => running.disposeAsync(),
  };

  function throughProxy(url: string): string {
    return proxy.url + new URL(url).pathname;
  }
}
