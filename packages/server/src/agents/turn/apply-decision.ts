import type { Decision } from '../../store/tables/pauses.ts';
import type { RunningMemory } from './turn-memory.ts';

/** What a decision leaves in the turn that waited for it, whatever was asked (platform.md 5.3). */
export function noteDecision(memory: RunningMemory, decision: Decision): void {
  const { verdict, note, decidedBy } = decision;
  memory.workflowId = undefined;
  memory.remember('hitl:decision_verdict', verdict);
  memory.remember('hitl:decision_by', decidedBy);
  if (note !== undefined) memory.remember('hitl:decision_note', note);
  memory.decision = decision;
  memory.setProperty('hitlVerdict', verdict, 'conversation');
}

/** What becomes of a turn that a rule had wait: approved, the tasks behind the pause run; rejected, they are skipped and the note is said. */
export function applyRuleDecision(memory: RunningMemory, { verdict, note }: Decision): 'go-on' | 'skip' {
  if (verdict === 'APPROVED') return 'go-on';
  if (note !== undefined) memory.output.push({ type: 'text', text: note });
  return 'skip';
}
