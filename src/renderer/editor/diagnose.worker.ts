/** Diagnoses text in a worker, so that typing never waits. Holds the knowledge between texts. */
import '../ui/no-eval.ts';
import {
  type CheckedAgainst,
  type DiagnoseAnswer,
  type DiagnoseRequest,
  diagnoseText,
} from '../../editing/diagnose-text.ts';

let knowledge: CheckedAgainst = { predicates: [], rules: [] };

self.onmessage = ({ data }: MessageEvent<DiagnoseRequest>) => {
  if (data.kind === 'knowledge') {
    knowledge = data.knowledge;
    return;
  }
  const { id, text, mode, instead } = data;
  const answer: DiagnoseAnswer = { id, diagnostics: diagnoseText(text, mode, knowledge, instead) };
  self.postMessage(answer);
};
