import { describe, expect, it } from 'vitest';
import { progressPage } from './progress-page.ts';

describe('the page of the progress', () => {
  it('names the folder, whatever it is called', () => {
    const page = progressPage({ folder: '/data/<script>alert("1")</script>&', icon: 'AAAA' });
    expect(page).toContain('/data/&lt;script&gt;alert(&quot;1&quot;)&lt;/script&gt;&amp;');
    expect(page.match(/<script>/g)).toHaveLength(1);
  });

  it('loads nothing from elsewhere', () => {
    const page = progressPage({ folder: '/data', icon: 'AAAA' });
    expect(page).toContain("default-src 'none'");
    expect(page).not.toMatch(/https?:/);
  });
});
