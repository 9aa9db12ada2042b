import { describe, expect, it } from 'vitest';
import { createHostCheck } from './host-check.ts';

const check = createHostCheck({
  boundHost: '0.0.0.0',
  publicUrl: 'https://agents.example.com',
  allowedHosts: ['gateway.internal', 'box:7070'],
  allowedOrigins: ['https://app.example.com'],
});

const outcome = (host: string | undefined, origin?: string) => {
  const checked = check.check({ host, origin });
  return checked.ok ? 'ok' : checked.refusal.reason;
};

describe('requests that are addressed to us', () => {
  it.each([
    ['127.0.0.1:7070', undefined, 'ok'],
    ['localhost:7070', undefined, 'ok'],
    ['[::1]:7070', undefined, 'ok'],
    ['LOCALHOST', undefined, 'ok'],
    ['agents.example.com', undefined, 'ok'],
    ['gateway.internal:9', undefined, 'ok'],
    ['box:7070', undefined, 'ok'],
    ['box:7071', undefined, 'host'],
    ['evil.example', undefined, 'host'],
    ['localhost.evil.example', undefined, 'host'],
    ['127.0.0.1.evil.example', undefined, 'host'],
    ['evil.example:7070@localhost', undefined, 'host'],
    ['', undefined, 'host'],
    [undefined, undefined, 'host'],
    ['localhost:7070', 'http://localhost:7070', 'ok'],
    ['localhost:7070', 'https://agents.example.com', 'ok'],
    ['agents.example.com', 'https://agents.example.com', 'ok'],
    ['agents.example.com', 'http://agents.example.com', 'origin'],
    ['agents.example.com', 'https://agents.example.com:8443', 'origin'],
    ['localhost:7070', 'http://localhost:3000', 'origin'],
    ['gateway.internal', 'http://gateway.internal', 'ok'],
    ['localhost:7070', 'https://app.example.com', 'ok'],
    ['localhost:7070', 'https://evil.example', 'origin'],
    ['localhost:7070', 'https://agents.example.com.evil.example', 'origin'],
    ['localhost:7070', 'null', 'origin'],
    ['localhost:7070', 'file://localhost', 'origin'],
    ['localhost:7070', '', 'origin'],
  ])('Host %s with Origin %s: %s', (host, origin, expected) => {
    expect(outcome(host, origin)).toBe(expected);
  });
});

describe('pages of the platform itself', () => {
  it.each([
    ['localhost:7070', 'http://localhost:7070', true],
    ['agents.example.com', 'https://agents.example.com', true],
    ['agents.example.com', 'http://agents.example.com', false],
    // May talk to the doors, and is no page of ours.
    ['localhost:7070', 'https://app.example.com', false],
    ['localhost:7070', 'http://localhost:7071', false],
    ['localhost:7070', 'null', false],
    ['localhost:7070', undefined, false],
    [undefined, 'http://localhost:7070', false],
  ])('Host %s with Origin %s: %s', (host, origin, expected) => {
    expect(check.isOwnPage({ host, origin })).toBe(expected);
  });
});
