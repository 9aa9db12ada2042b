import { describe, expect, it } from 'vitest';
import {
  classifyAddress,
  classifyHost,
  isAddress,
  isLoopbackHost,
  normalizeHost,
} from './network-address.ts';

describe('classifyAddress', () => {
  it.each([
    ['1.1.1.1', 'public'],
    ['93.184.215.14', 'public'],
    ['172.15.255.255', 'public'],
    ['172.32.0.0', 'public'],
    ['100.63.255.255', 'public'],
    ['100.128.0.0', 'public'],
    ['2606:4700:4700::1111', 'public'],
    ['::ffff:1.1.1.1', 'public'],
    ['64:ff9b::101:101', 'public'],
    ['127.0.0.1', 'private'],
    ['127.255.255.254', 'private'],
    ['10.0.0.5', 'private'],
    ['172.16.0.1', 'private'],
    ['192.168.1.1', 'private'],
    ['100.64.0.1', 'private'],
    ['198.18.0.1', 'private'],
    ['::1', 'private'],
    ['0:0:0:0:0:0:0:1', 'private'],
    ['::ffff:127.0.0.1', 'private'],
    ['::ffff:7f00:1', 'private'],
    ['fd12:3456::1', 'private'],
    ['fc00::1', 'private'],
    ['0.0.0.0', 'never'],
    ['0.1.2.3', 'never'],
    ['169.254.169.254', 'never'],
    ['169.254.0.1', 'never'],
    ['::ffff:169.254.169.254', 'never'],
    ['100.100.100.200', 'never'],
    ['168.63.129.16', 'never'],
    ['192.0.0.192', 'never'],
    ['192.0.2.1', 'never'],
    ['224.0.0.1', 'never'],
    ['240.0.0.1', 'never'],
    ['255.255.255.255', 'never'],
    ['::', 'never'],
    ['::7f00:1', 'never'],
    ['::ffff:0:127.0.0.1', 'never'],
    ['64:ff9b::7f00:1', 'never'],
    ['64:ff9b::a9fe:a9fe', 'never'],
    ['64:ff9b:1::7f00:1', 'never'],
    ['2002:7f00:1::', 'never'],
    ['2002:101:101::', 'never'],
    ['2001:0:7f00:1::', 'never'],
    ['fe80::1', 'never'],
    ['fe80::1%eth0', 'never'],
    ['fec0::1', 'never'],
    ['ff02::1', 'never'],
    ['fd00:ec2::254', 'never'],
    ['fd20:ce::254', 'never'],
    ['2001:db8::1', 'never'],
    ['3fff::1', 'never'],
    ['4000::1', 'never'],
    ['100::1', 'never'],
    ['not an address', 'never'],
    ['', 'never'],
  ])('%s is %s', (address, expected) => {
    expect(classifyAddress(address)).toBe(expected);
  });
});

describe('classifyHost', () => {
  it.each([
    ['mcp.example.com', 'public'],
    ['localhost.example.com', 'public'],
    ['internal.example.com', 'public'],
    ['[2606:4700:4700::1111]', 'public'],
    ['localhost', 'private'],
    ['LOCALHOST.', 'private'],
    ['a.localhost', 'private'],
    ['localhost.localdomain', 'private'],
    ['printer.local', 'private'],
    ['host.docker.internal', 'private'],
    ['router.home.arpa', 'private'],
    ['[::1]', 'private'],
    ['127.0.0.1.', 'private'],
    ['metadata', 'never'],
    ['metadata.google.internal', 'never'],
    ['metadata.google.internal.', 'never'],
    ['x.metadata.google.internal', 'never'],
    ['instance-data.ec2.internal', 'never'],
    ['', 'never'],
    ['.', 'never'],
  ])('%s is %s', (host, expected) => {
    expect(classifyHost(host)).toBe(expected);
  });

  // A URL turns every one of these into the same host, so one table covers them all.
  it.each([
    'http://2130706433',
    'http://0177.1',
    'http://0x7f.1',
    'http://0x7f000001',
    'http://127.1',
    'http://017700000001',
    'http://127.0.0.1.',
    'http://１２７.0.0.1',
    'http://①②⑦.0.0.1',
    'http://[::ffff:127.0.0.1]',
    'http://[::1]',
    'http://LocalHost',
    'http://localhost.',
    'http://%6c%6f%63alhost',
  ])('%s is private once it is a URL', url => {
    expect(classifyHost(new URL(url).hostname)).toBe('private');
  });
});

describe('hosts', () => {
  it('has one spelling for a host', () => {
    expect(normalizeHost('[::1]')).toBe('::1');
    expect(normalizeHost('Example.COM.')).toBe('example.com');
    expect(isAddress('[::1]')).toBe(true);
    expect(isAddress('example.com')).toBe(false);
  });

  it.each([
    ['127.0.0.1', true],
    ['127.8.9.10', true],
    ['::1', true],
    ['[::1]', true],
    ['::ffff:127.0.0.1', true],
    ['localhost', true],
    ['0.0.0.0', false],
    ['::', false],
    ['192.168.1.5', false],
    ['patchbay.example.com', false],
    ['localhost.example.com', false],
  ])('%s reaches this machine only: %s', (host, expected) => {
    expect(isLoopbackHost(host)).toBe(expected);
  });
});
