import type {
  Extracted,
  ExtractInput,
  Ingested,
  IngestInput,
  SynthesizeInput,
  Synthesized,
  TurnsContext,
  TurnsInput,
} from '../../engine/contract/extraction.ts';
import type { Caller } from '../../engine/index.ts';

/** Natural language in and out: text that becomes facts, and proved facts that become words. */
export interface Language {
  contextOfTurns(caller: Caller, input: TurnsInput): Promise<TurnsContext>;
  ingest(caller: Caller, input: IngestInput): Promise<Ingested>;
  extract(caller: Caller, input: ExtractInput): Promise<Extracted>;
  synthesize(caller: Caller, input: SynthesizeInput): Promise<Synthesized>;
}
