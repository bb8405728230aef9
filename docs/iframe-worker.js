// A browser starts no worker from a file on disk. There, run the site's search in a hidden frame instead.
if (location.protocol === "file:")
  window.Worker = class extends EventTarget {
    constructor(url) {
      super();
      const frame = document.createElement("iframe");
      frame.hidden = true;
      this.inside = new Promise(resolve => {
        frame.addEventListener("load", () => {
          const { contentWindow: inside, contentDocument: page } = frame;
          inside.postMessage = data => this.dispatchEvent(new MessageEvent("message", { data }));
          const script = page.createElement("script");
          script.addEventListener("load", () => resolve(inside));
          script.src = url;
          page.head.append(script);
        }, { once: true });
      });
      document.body.append(frame);
    }

    postMessage(data) {
      this.inside.then(inside => inside.dispatchEvent(new MessageEvent("message", { data })));
    }
  };
