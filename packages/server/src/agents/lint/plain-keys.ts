// biome-ignore-all lint/suspicious/noTemplateCurlyInString: references such as ${vault:key} are the product's own syntax
import { type Finding, quoted, warning } from './finding.ts';
import { documentsOf, type LintedAgent, placeIn } from './linted-agent.ts';

/** Keys of models that stand in a document, where everybody reads them who reads the agent. */
export function* plainKeys(agent: LintedAgent): Generator<Finding> {
  for (const document of documentsOf(agent, 'llm')) {
    for (const { id, type, parameters } of document.body.tasks) {
      const { apiKey = '' } = parameters;
      if (apiKey === '' || apiKey.includes('${')) continue;
      yield warning({
        code: 'plain-key',
        place: placeIn(document, `task ${quoted(id)}`),
        says: 'The key stands in the agent itself: whoever reads or exports it has the key.',
        mend: `Store it: npx patchbay secrets set ${type}, and write \${vault:${type}}.`,
      });
    }
  }
}
