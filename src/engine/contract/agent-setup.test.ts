import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type AgentPlace, type AgentProgram, agentPrograms, configurationOf } from './agent-setup.ts';
import { tenantNameSchema } from './fields.ts';
import { routeOf } from './testing/read-configuration.ts';

const usual: AgentPlace = {
  address: 'http://127.0.0.1:9300',
  database: 'default',
  tenant: 'default',
  key: null,
  bridge: { command: 'node', args: ['/opt/corollary/out/bridge/corollary-mcp.js'] },
};
const odd: AgentPlace = {
  ...usual,
  database: '-db.1',
  tenant: `it's"$HOME"\`\\!`,
  key: 'a key with $ and "',
};

/** Each has a special meaning in a shell, a format or a client. */
const tenantsOfNote = [
  'a$HOME',
  'a`id`',
  'a\\',
  'a!b',
  '#a',
  '~',
  '*',
  '=a',
  '%PATH%',
  "''",
  '"""',
  ':',
  '--header',
  '{a}',
];

const byBridge: readonly AgentProgram[] = ['claude-desktop', 'other-stdio'];
const byAddress = agentPrograms.filter((program) => !byBridge.includes(program));

function configured(program: AgentProgram, place: AgentPlace) {
  const configuration = configurationOf(program, place);
  if (configuration === null) throw new Error(`no configuration of ${program}`);
  return configuration;
}

/** Visible ASCII, with special characters of shells, JSON, TOML and clients more frequent than the rest. */
const visible = fc.oneof(
  fc.constantFrom(...`'"\\$\`!{}:#-=;&|<>*?~%^`),
  fc.integer({ min: 0x21, max: 0x7e }).map((code) => String.fromCharCode(code)),
);
const tenants = fc
  .string({ unit: visible, minLength: 1, maxLength: 256 })
  .filter((name) => tenantNameSchema.safeParse(name).success);
const databases = fc.stringMatching(/^[A-Za-z0-9_.-]{1,128}$/);
const paths = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 40 });

const places: fc.Arbitrary<AgentPlace> = fc.record({
  address: fc.constantFrom('http://127.0.0.1:9300', 'https://knowledge.example:9443', 'http://[::1]:80/'),
  database: fc.option(databases, { nil: 'default' }),
  tenant: fc.option(tenants, { nil: 'default' }),
  key: fc.option(fc.string({ unit: visible, minLength: 1, maxLength: 60 })),
  bridge: fc.record({ command: paths, args: fc.array(paths, { maxLength: 3 }) }),
});

describe.each(agentPrograms)('the configuration of %s', (program) => {
  it('is read by its client as exactly the intended route, whatever the names and the key', () => {
    fc.assert(
      fc.property(places, (place) => {
        const { text, route } = configured(program, place);
        expect(routeOf(program, text, place.key)).toEqual(route);
      }),
      {
        numRuns: 50,
        examples: [[usual], [odd], ...tenantsOfNote.map((tenant): [AgentPlace] => [{ ...usual, tenant }])],
      },
    );
  });

  it("contains only values other than the service's defaults", () => {
    const { text } = configured(program, usual);
    expect(text).not.toMatch(/header|env|default|tenant/i);
  });

  it('leads to the database and the tenant, with the key', () => {
    const { route } = configured(program, {
      ...usual,
      database: 'work',
      tenant: 'my-project',
      key: 'secret',
    });
    expect(route).toEqual(
      route.via === 'http'
        ? {
            via: 'http',
            url: 'http://127.0.0.1:9300/mcp',
            headers: { 'X-Database': 'work', 'X-Tenant-ID': 'my-project', Authorization: 'Bearer secret' },
          }
        : {
            via: 'bridge',
            command: 'node',
            args: [...(usual.bridge?.args ?? []), '--database', 'work', '--tenant', 'my-project'],
            env: { COROLLARY_API_KEY: 'secret' },
          },
    );
  });

  it('names its file, or is a command', () => {
    const { file, language } = configured(program, usual);
    expect(file === null).toBe(language === 'shell');
  });
});

describe('a configuration', () => {
  it('requires a bridge if it uses one, and none for an address', () => {
    for (const program of byBridge) expect(configurationOf(program, { ...usual, bridge: null })).toBeNull();
    for (const program of byAddress)
      expect(configured(program, { ...usual, bridge: null })).toEqual(configured(program, usual));
  });

  it('contains no key if its client stores keys elsewhere, and says where', () => {
    const key = 'very-secret';
    for (const program of ['cursor', 'vs-code', 'codex'] as const) {
      const { text, note } = configured(program, { ...usual, key });
      expect(text).not.toContain(key);
      expect(note).toMatch(/COROLLARY_API_KEY|secret storage/);
    }
  });

  it('never shows a key among the arguments of a program, where other users can see it', () => {
    for (const program of byBridge) {
      const { route } = configured(program, { ...usual, key: 'very-secret' });
      expect(JSON.stringify(route.via === 'bridge' ? route.args : null)).not.toContain('very-secret');
    }
  });

  it('passes a name that begins with - so that it is not read as an option', () => {
    const { route } = configured('claude-desktop', { ...usual, database: '-a', tenant: '--help' });
    expect(route).toMatchObject({ args: [expect.anything(), '--database=-a', '--tenant=--help'] });
  });

  it('warns of a name that clients would read as a variable', () => {
    for (const program of agentPrograms) {
      const { note } = configured(program, { ...usual, tenant: 'a${b}' });
      if (program !== 'codex') expect(note).toContain('choose another');
      expect(configured(program, { ...usual, tenant: 'a$b' }).note ?? '').not.toContain('choose another');
    }
  });

  it('ignores a slash at the end of an address', () => {
    for (const program of byAddress)
      expect(configured(program, { ...usual, address: `${usual.address}/` })).toEqual(
        configured(program, usual),
      );
  });
});
