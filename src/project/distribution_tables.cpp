#include "project/distribution_tables.hpp"

#include <array>

// Facts of 2026-11-22, from the metadata that the distributions publish: the top-level modules of
// their wheels and what these require without extras. A name whose right distribution is not on the
// usual index, or stands there for something else, is not suggested.

namespace autopack::project {

namespace {

/// Modules whose distribution has another name, or that several provide; the one to suggest first.
/// `-` in front: none is suggested. `<82` behind a name: the versions that provide it.
constexpr std::array other_names{std::to_array<DistributionRow>({
    {"Bio", "biopython"},
    {"Crypto", "pycryptodome"},
    {"Cryptodome", "pycryptodomex"},
    {"Cython", "Cython"},
    {"IPython", "ipython"},
    {"Levenshtein", "Levenshtein python-Levenshtein"},
    {"MeCab", "mecab-python3"},
    {"MySQLdb", "mysqlclient"},
    {"OpenGL", "PyOpenGL"},
    {"OpenSSL", "pyOpenSSL"},
    {"PIL", "Pillow pillow-simd"},
    {"SimpleITK", "SimpleITK"},
    {"Xlib", "python-xlib"},
    {"absl", "absl-py"},
    {"acme", "dm-acme"},
    {"airflow", "apache-airflow"},
    {"ale_py", "ale-py"},
    {"antlr4", "antlr4-python3-runtime"},
    {"apache_beam", "apache-beam"},
    {"asynchat", "pyasynchat"},
    {"asyncore", "pyasyncore"},
    {"attr", "attrs"},
    {"attrs", "attrs"},
    {"audioop", "audioop-lts"},
    {"box", "python-box"},
    {"bs4", "beautifulsoup4"},
    {"cgi", "legacy-cgi"},
    {"cgitb", "legacy-cgi"},
    {"clip", "- clip-anytorch openai-clip clip"},
    {"community", "python-louvain"},
    {"composer", "mosaicml"},
    {"configargparse", "ConfigArgParse"},
    {"consul", "python-consul"},
    {"cupy", "- cupy cupy-cuda11x cupy-cuda12x cupy-cuda13x"},
    {"cv2",
     "opencv-python opencv-python-headless opencv-contrib-python opencv-contrib-python-headless"},
    {"dateutil", "python-dateutil"},
    // As of Python 3.12, where torch requires setuptools.
    {"distutils", "setuptools torch"},
    {"dm_control", "dm-control"},
    {"dm_env", "dm-env"},
    {"dns", "dnspython"},
    {"docx", "python-docx"},
    {"dotenv", "python-dotenv"},
    {"dora", "dora-search"},
    {"faiss", "faiss-cpu faiss-gpu"},
    {"ffmpeg", "ffmpeg-python"},
    {"fitz", "PyMuPDF"},
    {"flash_attn", "flash-attn"},
    {"functorch", "torch functorch"},
    {"gi", "PyGObject"},
    {"gin", "gin-config"},
    {"git", "GitPython"},
    {"github", "PyGithub"},
    {"gitlab", "python-gitlab"},
    {"google.api_core", "google-api-core"},
    {"google.auth", "google-auth"},
    {"google.cloud.aiplatform", "google-cloud-aiplatform"},
    {"google.cloud.bigquery", "google-cloud-bigquery"},
    {"google.cloud.bigquery_storage", "google-cloud-bigquery-storage"},
    {"google.cloud.firestore", "google-cloud-firestore"},
    {"google.cloud.logging", "google-cloud-logging"},
    {"google.cloud.pubsub", "google-cloud-pubsub"},
    {"google.cloud.pubsub_v1", "google-cloud-pubsub"},
    {"google.cloud.secretmanager", "google-cloud-secret-manager"},
    {"google.cloud.storage", "google-cloud-storage"},
    {"google.cloud.tasks", "google-cloud-tasks"},
    {"google.genai", "google-genai"},
    {"google.generativeai", "google-generativeai"},
    {"google.oauth2", "google-auth"},
    {"google.protobuf", "protobuf"},
    {"googleapiclient", "google-api-python-client"},
    {"grpc", "grpcio"},
    {"grpc_status", "grpcio-status"},
    {"haiku", "dm-haiku"},
    {"hydra", "hydra-core"},
    {"hyperpyyaml", "HyperPyYAML"},
    {"hypertune", "cloudml-hypertune"},
    {"igraph", "igraph python-igraph"},
    {"imblearn", "imbalanced-learn"},
    {"jinja2", "Jinja2"},
    {"jose", "python-jose"},
    {"jwt", "PyJWT"},
    {"keras", "keras keras-nightly"},
    {"ldap", "python-ldap"},
    {"lightning", "lightning"},
    {"lightning_fabric", "lightning-fabric lightning pytorch-lightning"},
    {"llvmlite", "llvmlite"},
    {"magic", "python-magic"},
    {"markdown", "Markdown"},
    {"mcubes", "PyMCubes"},
    {"memcache", "python-memcached"},
    {"ml_collections", "ml-collections"},
    {"mmcv", "mmcv mmcv-full mmcv-lite"},
    {"mpl_toolkits", "matplotlib"},
    {"mujoco_py", "mujoco-py"},
    {"multipart", "python-multipart"},
    {"nacl", "PyNaCl"},
    {"onnxruntime", "onnxruntime onnxruntime-gpu"},
    {"open_clip", "open-clip-torch"},
    {"orbax", "orbax-checkpoint"},
    {"osgeo", "GDAL"},
    {"pkg_resources", "setuptools<82"},
    {"pl_bolts", "lightning-bolts"},
    {"pptx", "python-pptx"},
    {"psycopg2", "psycopg2 psycopg2-binary"},
    {"pylab", "matplotlib"},
    {"pynvml", "nvidia-ml-py pynvml nvidia-ml-py3"},
    {"pythonjsonlogger", "python-json-logger"},
    {"pytorch_lightning", "pytorch-lightning lightning"},
    {"rest_framework", "djangorestframework"},
    {"ruamel", "ruamel.yaml"},
    {"serial", "pyserial"},
    {"shapefile", "pyshp"},
    {"skimage", "scikit-image"},
    {"sklearn", "scikit-learn"},
    {"skopt", "scikit-optimize"},
    {"skvideo", "scikit-video"},
    {"slugify", "python-slugify"},
    {"snappy", "python-snappy"},
    {"socks", "PySocks"},
    {"sonnet", "dm-sonnet"},
    {"streaming", "mosaicml-streaming"},
    {"telegram", "python-telegram-bot"},
    {"tensorboard", "tensorboard tb-nightly"},
    {"tensorflow",
     "tensorflow tensorflow-cpu tensorflow-gpu tensorflow-macos tf-nightly intel-tensorflow"},
    {"torchgen", "torch"},
    {"tree", "dm-tree"},
    {"umap", "umap-learn"},
    {"unidecode", "Unidecode"},
    {"usb", "pyusb"},
    {"vertexai", "google-cloud-aiplatform vertexai"},
    {"websocket", "websocket-client"},
    {"werkzeug", "Werkzeug"},
    {"wx", "wxPython"},
    {"yaml", "PyYAML"},
    {"zmq", "pyzmq"},
})};

/// Modules whose distribution has their name, with `-` for `_`.
constexpr std::string_view same_names{
    "accelerate addict aiohttp albumentations appdirs audioread av beartype bitsandbytes blobfile "
    "boto3 botocore braceexpand brax captum catboost cffi chex click cloudpickle clu colorama "
    "colorlog contourpy cryptography cycler dacite dask datasets decorator decord deepspeed demucs "
    "dgl diffrax diffusers dill distrax distributed docopt easydict editdistance einops "
    "ema_pytorch encodec equinox etils evaluate fairscale fairseq fastapi fastprogress fasttext "
    "filelock fire flask flatbuffers flax fsspec ftfy fvcore g2p_en gast gcsfs gdown gensim "
    "gpytorch "
    "gradio gym gymnasium h5py httpx huggingface_hub imageio imgaug importlib_metadata "
    "importlib_resources inflect iopath ipdb jax jaxlib jaxtyping jieba jiwer jmp joblib json5 "
    "jsonlines jsonschema julius kfp kiwisolver kornia langchain librosa lightgbm "
    "lightning_utilities "
    "lion_pytorch lmdb loguru loralib lpips lxml matplotlib minigrid ml_dtypes mlflow monai "
    "moviepy "
    "mpi4py msgpack mujoco multiprocess munch natsort networkx nibabel ninja nltk numba numpy "
    "omegaconf onnx open3d openai opt_einsum optax optuna optree orjson packaging pandas "
    "parameterized pathspec patsy peft pesq pettingzoo phonemizer platformdirs plotly plyfile "
    "polars "
    "pooch portalocker prettytable procgen promise protobuf psutil pyarrow pyasn1 pycocotools "
    "pydantic pydicom pydub pygame pygments pyparsing pypinyin pyrender pyrootutils pystoi pytest "
    "pytorch_fid pytorch_msssim pytz pyworld ray rdkit regex requests resampy rich rlax rootutils "
    "rotary_embedding_torch rouge rouge_score s3fs sacrebleu sacremoses safetensors scipy seaborn "
    "sentence_transformers sentencepiece sentry_sdk seqeval setproctitle setuptools shapely "
    "simplejson six sklearn_pandas smart_open sortedcontainers soundfile soxr spacy "
    "sqlalchemy stable_baselines3 statsmodels streamlit submitit sympy tables tabulate "
    "tensorboardX "
    "tensorboard_logger tensorflow_addons tensorflow_datasets tensorflow_hub tensorflow_io "
    "tensorflow_metadata tensorflow_probability tensorflow_text tensorstore termcolor textdistance "
    "tf_agents tf_keras tf_slim thop threadpoolctl tifffile tiktoken timm tokenizers toml tomli "
    "toolz torch torch_cluster torch_ema torch_fidelity torch_geometric torch_scatter torch_sparse "
    "torch_spline_conv torchaudio torchdata torchdiffeq torchinfo torchmetrics torchsde "
    "torchsummary "
    "torchtext torchvision tqdm transformers trimesh triton trl typer typing_extensions ujson "
    "ultralytics urllib3 uvicorn vector_quantize_pytorch visdom vllm wandb webdataset wheel wilds "
    "wrapt x_transformers xarray xformers xgboost xxhash yacs yapf zarr zstandard "};

/// Left requires what stands right, whatever its version of the last years.
constexpr std::array requirements_of{std::to_array<DistributionRow>({
    {"accelerate", "huggingface-hub numpy packaging psutil pyyaml safetensors torch"},
    {"albumentations", "numpy opencv-python-headless pyyaml scipy"},
    {"basicsr",
     "addict future lmdb numpy opencv-python pillow pyyaml requests scikit-image scipy tb-nightly "
     "torch torchvision tqdm yapf"},
    {"boto3", "botocore"},
    {"chex", "absl-py jax jaxlib numpy toolz typing-extensions"},
    {"clip-anytorch", "ftfy regex torch torchvision tqdm"},
    {"datasets",
     "dill filelock fsspec huggingface-hub multiprocess numpy packaging pandas pyarrow pyyaml "
     "requests tqdm xxhash"},
    {"deepspeed", "hjson ninja numpy packaging psutil pydantic torch tqdm"},
    {"demucs", "dora-search einops julius pyyaml torch torchaudio tqdm"},
    {"diffusers",
     "filelock huggingface-hub importlib-metadata numpy pillow regex requests safetensors"},
    {"dm-haiku", "absl-py jmp numpy tabulate"},
    {"evaluate",
     "datasets dill fsspec huggingface-hub multiprocess numpy packaging pandas requests tqdm "
     "xxhash"},
    {"flashy", "colorlog dora-search torch"},
    {"flax", "jax msgpack numpy optax orbax-checkpoint pyyaml rich tensorstore typing-extensions"},
    {"fvcore", "iopath numpy pillow pyyaml tabulate termcolor tqdm yacs"},
    {"google-api-core", "google-auth googleapis-common-protos protobuf requests"},
    {"google-cloud-aiplatform",
     "google-api-core google-auth google-cloud-bigquery google-cloud-resource-manager "
     "google-cloud-storage packaging protobuf"},
    {"google-cloud-bigquery",
     "google-api-core google-auth google-cloud-core packaging python-dateutil requests"},
    {"google-cloud-storage", "google-api-core google-auth google-cloud-core requests"},
    {"gym", "cloudpickle numpy"},
    {"gymnasium", "cloudpickle numpy typing-extensions"},
    {"huggingface-hub", "filelock fsspec packaging pyyaml tqdm typing-extensions"},
    {"huggingface-sb3", "cloudpickle huggingface-hub pyyaml tqdm"},
    {"hydra-core", "antlr4-python3-runtime omegaconf packaging"},
    {"imgaug", "imageio matplotlib numpy opencv-python pillow scikit-image scipy shapely six"},
    {"iopath", "portalocker tqdm typing-extensions"},
    {"jax", "jaxlib ml-dtypes numpy opt-einsum scipy"},
    {"jaxlib", "ml-dtypes numpy scipy"},
    {"keras", "absl-py h5py numpy"},
    {"kornia", "packaging torch"},
    {"librosa",
     "audioread decorator joblib lazy-loader msgpack numba numpy pooch scikit-learn scipy "
     "soundfile soxr typing-extensions"},
    {"lightgbm", "numpy scipy"},
    {"lightning",
     "fsspec lightning-utilities packaging pytorch-lightning pyyaml torch torchmetrics tqdm "
     "typing-extensions"},
    {"lpips", "numpy scipy torch torchvision tqdm"},
    {"matplotlib",
     "contourpy cycler fonttools kiwisolver numpy packaging pillow pyparsing python-dateutil"},
    {"mlflow", "numpy pandas requests scikit-learn scipy sqlalchemy"},
    {"monai", "numpy torch"},
    {"nltk", "click joblib regex tqdm"},
    {"numba", "llvmlite numpy"},
    {"omegaconf", "antlr4-python3-runtime pyyaml"},
    {"open-clip-torch", "ftfy huggingface-hub regex safetensors timm torch torchvision tqdm"},
    {"opencv-contrib-python", "numpy"},
    {"opencv-contrib-python-headless", "numpy"},
    {"opencv-python", "numpy"},
    {"opencv-python-headless", "numpy"},
    {"optax", "absl-py chex jax jaxlib numpy"},
    {"optuna", "alembic colorlog numpy packaging pyyaml sqlalchemy tqdm"},
    {"orbax-checkpoint", "absl-py etils jax msgpack numpy pyyaml tensorstore"},
    {"pandas", "numpy python-dateutil pytz"},
    {"peft",
     "accelerate huggingface-hub numpy packaging psutil pyyaml safetensors torch tqdm "
     "transformers"},
    {"pyaml", "pyyaml"},
    {"pycocoevalcap", "pycocotools"},
    {"pycocotools", "numpy"},
    {"pytorch-lightning",
     "fsspec lightning-utilities packaging pyyaml torch torchmetrics tqdm typing-extensions"},
    {"sacrebleu", "colorama lxml numpy portalocker regex tabulate"},
    {"sb3-contrib", "stable-baselines3"},
    {"scikit-image", "imageio networkx numpy packaging pillow scipy tifffile"},
    {"scikit-learn", "joblib numpy scipy threadpoolctl"},
    {"scipy", "numpy"},
    {"seaborn", "matplotlib numpy pandas"},
    {"sentence-transformers", "huggingface-hub pillow scikit-learn scipy torch tqdm transformers"},
    {"stable-baselines3", "cloudpickle gymnasium matplotlib numpy pandas torch"},
    {"statsmodels", "numpy packaging pandas patsy scipy"},
    {"tensorboard", "absl-py grpcio markdown numpy protobuf setuptools werkzeug"},
    {"tensorboardx", "numpy packaging protobuf"},
    {"tensorflow",
     "absl-py astunparse flatbuffers gast google-pasta grpcio h5py keras numpy opt-einsum "
     "packaging "
     "protobuf requests setuptools six tensorboard termcolor typing-extensions wrapt"},
    {"tensorflow-cpu", "tensorflow"},
    {"tensorflow-datasets",
     "absl-py dm-tree etils numpy promise protobuf psutil requests tensorflow-metadata termcolor "
     "toml tqdm wrapt"},
    {"tensorflow-gan", "tensorflow-hub tensorflow-probability"},
    {"tensorflow-gpu", "tensorflow"},
    {"tensorflow-probability", "absl-py cloudpickle decorator dm-tree gast numpy six"},
    {"tiktoken", "regex requests"},
    {"timm", "huggingface-hub pyyaml safetensors torch torchvision"},
    {"tokenizers", "huggingface-hub"},
    {"torch", "filelock fsspec jinja2 networkx sympy triton typing-extensions"},
    {"torch-geometric", "aiohttp fsspec jinja2 numpy psutil pyparsing requests tqdm xxhash"},
    {"torchaudio", "torch"},
    {"torchmetrics", "lightning-utilities numpy packaging torch"},
    {"torchtext", "numpy requests torch tqdm"},
    {"torchvision", "numpy pillow torch"},
    {"transformers",
     "filelock huggingface-hub numpy packaging pyyaml regex requests safetensors tokenizers tqdm"},
    {"trl", "accelerate datasets transformers"},
    {"ultralytics",
     "matplotlib numpy opencv-python pillow psutil pyyaml requests scipy torch torchvision"},
    {"visdom", "jsonpatch networkx numpy pillow requests scipy tornado"},
    {"wandb",
     "click gitpython packaging platformdirs protobuf pydantic pyyaml requests sentry-sdk "
     "typing-extensions"},
    {"webdataset", "braceexpand numpy pyyaml"},
    {"xarray", "numpy packaging pandas"},
    {"xformers", "numpy torch"},
    {"xgboost", "numpy scipy"},
    {"yacs", "pyyaml"},
})};

}  // namespace

std::span<const DistributionRow> modules_of_other_names() {
  return other_names;
}

std::string_view modules_of_same_names() {
  return same_names;
}

std::span<const DistributionRow> known_requirements() {
  return requirements_of;
}

}  // namespace autopack::project
