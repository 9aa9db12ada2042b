import { describe, expect, it } from 'vitest';
import { createResources } from './resource.ts';

function resources(given: Partial<Parameters<typeof createResources>[0]> = {}) {
  return createResources({
    address: () => given.publicUrl ?? 'http://127.0.0.1:7070',
    publicUrl: undefined,
    boundHost: '127.0.0.1',
    allowedHosts: [],
    operatorPath: '/mcp',
    forceHttps: true,
    ...given,
  });
}

const atHome = resources();
const outside = resources({ publicUrl: 'https://agents.example.com' });
const withPrefix = resources({ publicUrl: 'https://example.com/bay' });

describe('the address of a door', () => {
  it.each([{ door: 'operator' }, { door: 'agents' }, { door: 'agent', agentId: 'concierge' }] as const)(
    'of the name $door is read back as that name',
    name => {
      for (const each of [atHome, outside, withPrefix])
        expect(each.nameOf(each.addressOf(name))).toEqual(name);
    },
  );

  it('is the public address with the path of the door', () => {
    expect(withPrefix.addressOf({ door: 'operator' })).toBe('https://example.com/bay/mcp');
    expect(outside.addressOf({ door: 'agent', agentId: 'concierge' })).toBe(
      'https://agents.example.com/concierge/mcp',
    );
    expect(outside.addressOf({ door: 'agents' })).toBe('https://agents.example.com');
  });

  it('follows the path of the operator door', () => {
    const moved = resources({ operatorPath: '/ops/door' });
    expect(moved.nameOf('http://127.0.0.1:7070/ops/door')).toEqual({ door: 'operator' });
    expect(moved.nameOf('http://127.0.0.1:7070/mcp')).toBeUndefined();
  });

  it('may be written with scheme and host in capitals, and an origin with its slash', () => {
    expect(outside.nameOf('HTTPS://Agents.Example.COM/mcp')).toEqual({ door: 'operator' });
    expect(outside.nameOf('https://agents.example.com/')).toEqual({ door: 'agents' });
  });

  it('begins with every name of the listener while there is no public address (E-40)', () => {
    const bound = resources({
      boundHost: '10.0.0.5',
      address: () => 'http://10.0.0.5:7070',
      forceHttps: false,
    });
    for (const host of ['127.0.0.1', 'localhost', '[::1]', '10.0.0.5']) {
      expect(bound.nameOf(`http://${host}:7070/mcp`)).toEqual({ door: 'operator' });
      expect(bound.baseFor(`${host}:7070`)).toBe(`http://${host}:7070`);
    }
    expect(bound.base()).toBe('http://10.0.0.5:7070');
  });

  it('begins with a host that was allowed, at its own port or the one of the listener', () => {
    const allowed = resources({ allowedHosts: ['bay.lan', 'other.lan:8443'] });
    expect(allowed.nameOf('https://bay.lan/mcp')).toEqual({ door: 'operator' });
    expect(allowed.nameOf('https://bay.lan:7070/mcp')).toEqual({ door: 'operator' });
    expect(allowed.nameOf('https://other.lan:8443/mcp')).toEqual({ door: 'operator' });
    expect(allowed.nameOf('https://other.lan/mcp')).toBeUndefined();
    expect(allowed.baseFor('bay.lan')).toBe('https://bay.lan');
  });

  it('is https for hosts that are not this machine unless that is set false (E-39)', () => {
    const publicUrl = 'http://agents.lan:8080';
    expect(resources({ publicUrl }).base()).toBe('https://agents.lan:8080');
    expect(resources({ publicUrl, forceHttps: false }).base()).toBe('http://agents.lan:8080');
    expect(resources({ publicUrl: 'http://localhost:8094' }).base()).toBe('http://localhost:8094');
  });

  it('of somebody connected elsewhere is the public one', () => {
    expect(outside.baseFor('127.0.0.1:7070')).toBe('https://agents.example.com');
    expect(atHome.baseFor('127.0.0.1:9999')).toBe('http://127.0.0.1:7070');
    expect(atHome.baseFor(undefined)).toBe('http://127.0.0.1:7070');
  });
});

describe('what names none of our doors (attack 6)', () => {
  it.each([
    'https://agents.example.com/MCP',
    'https://agents.example.com/mcp/',
    'https://agents.example.com//mcp',
    'https://agents.example.com/./mcp',
    'https://agents.example.com/x/../mcp',
    'https://agents.example.com/concierge//mcp',
    'https://agents.example.com/Concierge/mcp',
    'https://agents.example.com/concierge/mcp/',
    'https://agents.example.com/concierge',
    'https://agents.example.com/oauth/mcp',
    'https://agents.example.com/%6dcp',
    'https://agents.example.com/mcp%2f',
    'https://agents.example.com/mcp?x=1',
    'https://agents.example.com/mcp?',
    'https://agents.example.com/mcp#x',
    'https://agents.example.com/mcp#',
    'https://agents.example.com:443/mcp',
    'https://agents.example.com:8443/mcp',
    'http://agents.example.com/mcp',
    'https://agents.example.com./mcp',
    'https://agents.example.com.evil.test/mcp',
    'https://evil.test@agents.example.com/mcp',
    'https://agents.example.com@evil.test/mcp',
    'https://agents.example.com\\@evil.test/mcp',
    'https:\\\\agents.example.com\\mcp',
    'https:agents.example.com/mcp',
    'https:///agents.example.com/mcp',
    ' https://agents.example.com/mcp',
    'https://agents.example.com/mcp\n',
    'https://agents.example.com/\u{ff4d}cp',
    'https://\u{430}gents.example.com/mcp',
    'https://agents.example.com/mcp\0',
    '//agents.example.com/mcp',
    '/mcp',
    'javascript:https://agents.example.com/mcp',
    'https://127.0.0.1:7070/mcp',
    '',
    `https://agents.example.com/${'a'.repeat(4000)}/mcp`,
  ])('%j', address => {
    expect(outside.nameOf(address)).toBeUndefined();
  });

  it('another port of this machine, where anybody may listen', () => {
    expect(atHome.nameOf('http://127.0.0.1:7071/mcp')).toBeUndefined();
    expect(atHome.nameOf('http://127.0.0.1/mcp')).toBeUndefined();
    expect(atHome.nameOf('http://127.1:7070/mcp')).toBeUndefined();
    expect(atHome.nameOf('http://2130706433:7070/mcp')).toBeUndefined();
    expect(atHome.nameOf('https://127.0.0.1:7070/mcp')).toBeUndefined();
  });

  it('the origin without the prefix of a proxy, and the prefix with more behind it', () => {
    expect(withPrefix.nameOf('https://example.com/mcp')).toBeUndefined();
    expect(withPrefix.nameOf('https://example.com/bay/')).toBeUndefined();
    expect(withPrefix.nameOf('https://example.com/bayou/mcp')).toBeUndefined();
  });
});
