/**
 * The agent cards: what the agent is, what it can do and how to reach it, in both supported revisions of A2A.
 *
 * A card contains no knowledge, so it needs no credential. It gives the address by which the client asked for it.
 */
import type { AgentCard, AgentSkill } from '@a2a-js/sdk';
import type { LegacyRestTransportHandler } from '@a2a-js/sdk/compat/v0_3/server';

/** The card of revision 0.3. */
type EarlierCard = Awaited<ReturnType<LegacyRestTransportHandler['getAuthenticatedExtendedAgentCard']>>;

export interface CardFacts {
  /** Version of the service. */
  readonly version: string;
  /** Absolute address of `/a2a`. */
  readonly url: string;
  readonly needsCredential: boolean;
}

const name = 'Corollary';

const description =
  'A knowledge base that answers from facts and rules, with a proof of every answer and without a language model. It reads ' +
  'text line by line: a line that ends in a full stop tells a fact or teaches a rule; a line that ends in a question mark, ' +
  'or is an atom with a variable, asks; a line that begins with forget retracts. The headers X-Database and X-Tenant-ID select the knowledge, both "default" where ' +
  'they are missing.';

const inputModes = ['text/plain'];
const outputModes = ['text/plain', 'application/json'];

const skills = [
  {
    id: 'tell',
    name: 'Tell facts',
    description:
      'Stores facts: a predicate, its arguments in parentheses and a full stop. A minus sign before it says that it is ' +
      'explicitly not so. Answers with {status, atom}.',
    tags: ['facts', 'memory', 'knowledge'],
    examples: ['parent(ann, bob).', '-flies(tweety).'],
  },
  {
    id: 'teach',
    name: 'Teach rules',
    description:
      'Stores a rule: what follows, :-, what it follows from, and a full stop. Variables begin with a question mark. ' +
      'Answers with {status, rule}.',
    tags: ['rules', 'reasoning', 'knowledge'],
    examples: ['grandparent(?x, ?z) :- parent(?x, ?y), parent(?y, ?z).'],
  },
  {
    id: 'ask',
    name: 'Ask with proof',
    description:
      'Finds all that is stored or follows, and proves each of the answers. Answers with {results, proof}, and with no ' +
      'results if nothing known makes it so.',
    tags: ['questions', 'reasoning', 'proof'],
    examples: ['grandparent(?who, cal)?', 'parent(ann, ?child), not parent(?child, ?_)?'],
  },
  {
    id: 'forget',
    name: 'Forget facts and rules',
    description:
      'Retracts a fact, every fact that an atom with variables matches, or a rule: the word forget before it. What followed ' +
      'from it no longer does. Answers with {status, atom}.',
    tags: ['facts', 'memory', 'retraction'],
    examples: ['forget parent(ann, bob).', 'forget parent(ann, ?_).'],
  },
];

const bearerScheme = 'An API key as a bearer token';
const keyScheme = 'An API key in a header of its own';

/** Builds the card of revision 1.0 as the SDK's type; `AgentCard.toJSON` serializes it. */
export function agentCard({ version, url, needsCredential }: CardFacts): AgentCard {
  const spoken = (protocolVersion: string) => ({
    url,
    protocolBinding: 'JSONRPC',
    tenant: '',
    protocolVersion,
  });
  return {
    name,
    description,
    supportedInterfaces: [spoken('1.0'), spoken('0.3')],
    provider: undefined,
    version,
    capabilities: { streaming: false, pushNotifications: false, extendedAgentCard: false, extensions: [] },
    securitySchemes: needsCredential
      ? {
          bearer: {
            scheme: {
              $case: 'httpAuthSecurityScheme',
              value: { scheme: 'bearer', description: bearerScheme, bearerFormat: '' },
            },
          },
          apiKey: {
            scheme: {
              $case: 'apiKeySecurityScheme',
              value: { location: 'header', name: 'X-API-Key', description: keyScheme },
            },
          },
        }
      : {},
    securityRequirements: needsCredential
      ? [{ schemes: { bearer: { list: [] } } }, { schemes: { apiKey: { list: [] } } }]
      : [],
    defaultInputModes: inputModes,
    defaultOutputModes: outputModes,
    skills: skills.map(
      (skill): AgentSkill => ({ ...skill, inputModes: [], outputModes: [], securityRequirements: [] }),
    ),
    signatures: [],
  };
}

/** Builds the card of revision 0.3. */
export function earlierCard({ version, url, needsCredential }: CardFacts): EarlierCard {
  return {
    protocolVersion: '0.3.0',
    name,
    description,
    url,
    preferredTransport: 'JSONRPC',
    additionalInterfaces: [{ url, transport: 'JSONRPC' }],
    version,
    capabilities: { streaming: false, pushNotifications: false, stateTransitionHistory: false },
    ...(needsCredential
      ? {
          securitySchemes: {
            bearer: { type: 'http', scheme: 'bearer', description: bearerScheme },
            apiKey: { type: 'apiKey', in: 'header', name: 'X-API-Key', description: keyScheme },
          },
          security: [{ bearer: [] }, { apiKey: [] }],
        }
      : {}),
    defaultInputModes: inputModes,
    defaultOutputModes: outputModes,
    skills,
    supportsAuthenticatedExtendedCard: false,
  };
}
