import { startTestCluster } from '@patchbay/testing/cluster';
import { startTestPlatform, type TestPlatform, type TestPlatformOptions } from '@patchbay/testing/platform';

/** What a test may need that several nodes do not have, and why. Such a test runs on one node: `it.skipIf(lacks('...'))`. */
const ONE_NODE_ONLY = {
  'the token of the local owner': 'each node writes its own, for the command line of its machine',
  'one configuration': 'each node reads its own file',
  'counters of the whole platform': 'each node counts what it served, and is asked by itself',
};

export interface PlatformKind {
  readonly kind: string;
  start(options?: Pick<TestPlatformOptions, 'env' | 'overrides'>): Promise<TestPlatform>;
  lacks(need: keyof typeof ONE_NODE_ONLY): boolean;
}

/** For `describe.each(platforms)('... of $kind', ({ start, lacks }) => ...)`: what holds at one node's doors holds at two nodes'. */
export const platforms: readonly PlatformKind[] = [
  { kind: 'one node', start: startTestPlatform, lacks: () => false },
  {
    kind: 'two nodes',
    start: options => startTestCluster({ nodes: 2, ...options }),
    lacks: need => need in ONE_NODE_ONLY,
  },
];
