/** Diagnoses text away from the main thread, so that typing never waits for it. */
import '../no-eval.ts';
import { type DiagnoseAnswer, type DiagnoseRequest, diagnoseText } from './diagnose-text.ts';

self.onmessage = (event: MessageEvent<DiagnoseRequest>) => {
  const { id, text, mode, knowledge } = event.data;
  const answer: DiagnoseAnswer = { id, diagnostics: diagnoseText(text, mode, knowledge) };
  self.postMessage(answer);
};
