import type { Decision } from '../../store/tables/pauses.ts';
import type { RunningMemory } from './turn-memory.ts';

/**
 * What a decision leaves in the turn that waited for it (platform.md 5.3). Approved, the tasks behind the pause run; rejected,
 * they are skipped and the note is said.
 */
export function applyDecision(memory: RunningMemory, decision: Decision): 'go-on' | 'skip' {
  const { verdict, note, decidedBy } = decision;
  memory.workflowId = undefined;
  memory.remember('hitl:decision_verdict', verdict);
  memory.remember('hitl:decision_by', decidedBy);
  if (note !== undefined) memory.remember('hitl:decision_note', note);
  memory.decision = decision;
  memory.setProperty('hitlVerdict', verdict, 'conversation');
  if (verdict === 'APPROVED') return 'go-on';
  if (note !== undefined) memory.output.push({ type: 'text', text: note });
  return 'skip';
}
