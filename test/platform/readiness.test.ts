import { createClient } from '@patchbay/contract/client';
import { startTestPlatform } from '@patchbay/testing/platform';
import { engines, newTestDatabase } from '@patchbay/testing/stores';
import { describe, expect, it } from 'vitest';

describe.each(engines)('a platform on %s with an agent that cannot run', engine => {
  it('stays ready, and counts the agent until it is mended', async () => {
    await using database = engine === 'postgres' ? await newTestDatabase() : undefined;
    const platform = await startTestPlatform({ ...(database && { databaseUrl: database.url }) });
    try {
      const client = createClient({ baseUrl: platform.url, token: platform.ownerToken, fetch });
      const readiness = async () => (await fetch(`${platform.url}/readyz`)).json();
      const metrics = async () =>
        (
          await fetch(`${platform.url}/metrics`, {
            headers: { authorization: `Bearer ${platform.ownerToken}` },
          })
        ).text();
      const chat = () => client.call('chat_with_agent', { agentId: 'demo', message: 'hello' });
      const setBody = (body: string) =>
        platform.platform.store.commit(db =>
          db
            .updateTable('document_versions')
            .set({ body })
            .where('type', '=', 'rules')
            .where('id', '=', 'demo')
            .execute(),
        );
      const { body } = await platform.platform.store.db
        .selectFrom('document_versions')
        .select('body')
        .where('type', '=', 'rules')
        .where('id', '=', 'demo')
        .executeTakeFirstOrThrow();
      expect(await readiness()).toEqual({ status: 'ready', agentsInErrorCount: 0 });

      await setBody('{"behaviorGroups":"gone"}');
      await expect(chat()).rejects.toMatchObject({ status: 503 });
      expect(await readiness()).toEqual({ status: 'ready', agentsInErrorCount: 1 });
      expect(await metrics()).toContain('patchbay_deployments{environment="production",status="ERROR"} 1');

      await setBody(body);
      await client.call('deploy_agent', { agentId: 'demo', version: 1 });
      await chat();
      expect(await readiness()).toEqual({ status: 'ready', agentsInErrorCount: 0 });
      expect(await metrics()).toContain('patchbay_deployments{environment="production",status="READY"} 1');

      const { conversationId } = await client.call('chat_with_agent', {
        agentId: 'demo',
        message: 'ask a person',
      });
      expect(await metrics()).toContain('patchbay_pauses_open 1');
      await client.call('resume_conversation', { conversationId: conversationId!, verdict: 'REJECTED' });
      expect(await metrics()).toContain('patchbay_pauses_open 0');
      expect(await metrics()).toContain('patchbay_approvals_total{surface="rest",verdict="REJECTED"} 1');
    } finally {
      await platform.close();
    }
  });
});
